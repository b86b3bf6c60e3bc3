import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/server/config/config.ts'
import { dockerfileStages } from '../container/dockerfile-steps.ts'
import { readYaml, type YamlMap, type YamlValue } from './yaml.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const FOLDER = 'deploy/kubernetes'
const read = (path: string): string => readFileSync(resolve(PROJECT, path), 'utf8')
const manifest = (name: string): YamlMap => readYaml(read(`${FOLDER}/${name}`)) as YamlMap

/** What stands at `a.b.0.c`. */
function at(value: YamlValue | undefined, path: string): YamlValue | undefined {
  return path.split('.').reduce<YamlValue | undefined>((part, key) => {
    if (Array.isArray(part)) return part[Number(key)]
    return typeof part === 'object' && part !== null ? (part as YamlMap)[key] : undefined
  }, value)
}

function texts(value: YamlValue | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries((value ?? {}) as YamlMap).map(([name, text]) => [name, String(text)]))
}

/** The steps of all JSON patches in a kustomization. */
function patchesOf(source: string): YamlMap[] {
  const blocks = [...source.matchAll(/^ {4}patch: \|\n((?: {6}.*\n)+)/gm)]
  return blocks.flatMap(([, block = '']) => readYaml(block.replaceAll(/^ {6}/gm, '')) as YamlMap[])
}

/** Folders that the image gives to its user. */
function ownFolders(): string[] {
  const owner = `--chown=${imageText('USER') ?? ''}`
  const copies = imageSteps().filter(({ name, text }) => name === 'COPY' && text.split(' ').includes(owner))
  return copies.map(({ text }) => text.split(' ').at(-1) ?? '')
}

const imageSteps = () => dockerfileStages(read('Dockerfile')).at(-1) ?? []
const imageText = (instruction: string) => imageSteps().findLast(({ name }) => name === instruction)?.text

/** As compose replaces variables: the password is set, of the others none. */
function withDefaults(settings: Record<string, string>): Record<string, string> {
  const replace = (text: string): string =>
    text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll(/\$\{VALKEY_PASSWORD:\?[^}]*\}/g, PASSWORD)
  return Object.fromEntries(Object.entries(settings).map(([name, text]) => [name, replace(text)]))
}

const KEYS = { SECRET_KEYS: '0123456789abcdef0123456789abcdef' }
const PASSWORD = '89abcdef0123456789abcdef01234567'

describe('the manifests for Kubernetes', () => {
  const deployment = manifest('deployment.yaml')
  const pod = at(deployment, 'spec.template.spec') as YamlMap
  const container = at(pod, 'containers.0') as YamlMap
  const settings = texts(at(manifest('config-map.yaml'), 'data'))

  test('every file has kind, version and name, and is listed', () => {
    const listed = at(manifest('kustomization.yaml'), 'resources')
    const files = readdirSync(resolve(PROJECT, FOLDER)).filter((name) => name !== 'kustomization.yaml')
    expect(files.toSorted()).toEqual((listed as string[]).toSorted())
    for (const name of files) {
      const { kind, apiVersion, metadata } = manifest(name)
      expect([name, typeof kind, typeof apiVersion, at(metadata, 'name')]).toEqual([
        name,
        'string',
        'string',
        'millrace',
      ])
    }
  })

  test('the server takes the settings', () => {
    expect(readConfig({ ...settings, ...KEYS }).origins).toEqual(['https://www.example.com'])
  })

  test('a pod is given the time that its server takes to stop', () => {
    const { shutdownGraceMs, shutdownDelayMs } = readConfig({ ...settings, ...KEYS })
    expect(Number(pod['terminationGracePeriodSeconds']) * 1000).toBeGreaterThan(shutdownGraceMs)
    expect(shutdownDelayMs).toBeGreaterThanOrEqual(3_000) // what proxies of a cluster may take to hear of it
    expect(shutdownGraceMs).toBeGreaterThan(shutdownDelayMs + 10_000)
  })

  test('a pod may nothing but write to its data', () => {
    expect(at(container, 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(at(pod, 'securityContext.runAsNonRoot')).toBe(true)
    expect(at(pod, 'securityContext.seccompProfile.type')).toBe('RuntimeDefault')
    expect(pod['automountServiceAccountToken']).toBe(false)
    expect(at(container, 'resources.limits.memory')).toMatch(/Mi$/)
    expect(at(container, 'resources.requests.cpu')).toBeDefined()
  })

  test('its user and its folder are those of the image', () => {
    expect(`${String(at(pod, 'securityContext.runAsUser'))}:${String(at(pod, 'securityContext.runAsGroup'))}`).toBe(
      imageText('USER'),
    )
    expect(at(container, 'volumeMounts.0.mountPath')).toBe(imageText('VOLUME'))
    expect(String(at(container, 'ports.0.containerPort'))).toBe(imageText('EXPOSE'))
  })

  test('metrics have a port of their own, for whoever watches and for nobody else', () => {
    expect(String(at(container, 'ports.1.containerPort'))).toBe(settings['METRICS_PORT'])
    const rules = at(manifest('network-policy.yaml'), 'spec.ingress') as YamlMap[]
    const ports = rules.map((rule) => [at(rule, 'from.0.namespaceSelector') !== undefined, at(rule, 'ports.0.port')])
    expect(ports).toEqual([
      [true, 3000],
      [true, 9464],
    ])
  })

  test('probes ask what the server answers', () => {
    expect(
      ['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => at(container, `${probe}.httpGet.path`)),
    ).toEqual(['/healthz', '/readyz', '/healthz'])
  })

  test('pods reach the internet and nothing in the cluster, at the provider, or on the node', () => {
    const rules = at(manifest('network-policy.yaml'), 'spec.egress') as YamlMap[]
    const [outside] = rules.flatMap((rule) => at(rule, 'to.0.ipBlock') ?? [])
    expect(at(outside, 'cidr')).toBe('0.0.0.0/0')
    expect(at(outside, 'except')).toEqual([
      '10.0.0.0/8',
      '100.64.0.0/10',
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.168.0.0/16',
    ])
  })

  test('the store has a password wherever a file or the handbook shows its URL', () => {
    const shown = [...readdirSync(resolve(PROJECT, 'docs')), ...readdirSync(resolve(PROJECT, FOLDER))]
      .map((name) => (name.endsWith('.md') ? `docs/${name}` : `${FOLDER}/${name}`))
      .filter((path) => /\.(?:md|yaml)$/.test(path))
      .flatMap((path) => read(path).match(/rediss?:\/\/[^\s`"]+/g) ?? [])
    expect(shown.length).toBeGreaterThan(1)
    for (const url of shown) expect(url).toMatch(/^rediss?:\/\/:[^@]+@/)
    expect(settings).not.toHaveProperty('REDIS_URL')
  })

  test('no variable of a service is taken for one of the server', () => {
    expect(pod['enableServiceLinks']).toBe(false)
    expect(() => readConfig({ MILLRACE_SERVICE_HOST: '10.0.0.1' })).toThrow('MILLRACE_SERVICE_HOST')
  })

  test('what may hold a password or a key can be given by the secret, and need not be', () => {
    const fromSecret = (at(container, 'env') as YamlMap[]).map((variable) => [
      variable['name'],
      at(variable, 'valueFrom.secretKeyRef.key'),
      at(variable, 'valueFrom.secretKeyRef.optional') ?? false,
    ])
    expect(fromSecret).toEqual([
      ['SECRET_KEYS', 'SECRET_KEYS', false],
      ['REDIS_URL', 'REDIS_URL', true],
      ['SENTRY_DSN', 'SENTRY_DSN', true],
    ])
  })

  test('with shared files, all pods mount one volume where the setting says and their user may write', () => {
    const overlay = 'deploy/kubernetes-shared-files'
    const patches = patchesOf(read(`${overlay}/kustomization.yaml`))
    const value = (path: string): YamlValue | undefined =>
      patches.find((patch) => patch['op'] === 'add' && patch['path'] === path)?.['value']
    const claim = readYaml(read(`${overlay}/claim.yaml`))
    const mount = value('/spec/template/spec/containers/0/volumeMounts/-')
    const volume = value('/spec/template/spec/volumes/-')
    expect(at(mount, 'mountPath')).toBe(value('/data/ASSETS_DIR'))
    expect(ownFolders()).toContain(at(mount, 'mountPath'))
    expect(at(mount, 'name')).toBe(at(volume, 'name'))
    expect(at(volume, 'persistentVolumeClaim.claimName')).toBe(at(claim, 'metadata.name'))
    expect(at(claim, 'spec.accessModes')).toEqual(['ReadWriteMany'])
  })

  test('all of them mean the same pods', () => {
    const labels = { 'app.kubernetes.io/name': 'millrace' }
    expect(at(deployment, 'spec.selector.matchLabels')).toEqual(labels)
    expect(at(deployment, 'spec.template.metadata.labels')).toEqual(labels)
    expect(at(manifest('service.yaml'), 'spec.selector')).toEqual(labels)
    expect(at(manifest('disruption-budget.yaml'), 'spec.selector.matchLabels')).toEqual(labels)
    expect(at(manifest('network-policy.yaml'), 'spec.podSelector.matchLabels')).toEqual(labels)
  })

  test('replacing and evicting leave pods that serve', () => {
    expect(at(deployment, 'spec.strategy.rollingUpdate')).toEqual({ maxSurge: 1, maxUnavailable: 0 })
    expect(at(manifest('disruption-budget.yaml'), 'spec.maxUnavailable')).toBe(1)
    expect(at(manifest('autoscaler.yaml'), 'spec.minReplicas')).toBeGreaterThanOrEqual(2)
    expect(at(deployment, 'spec.replicas')).toBeUndefined()
  })
})

describe('compose.yaml', () => {
  const compose = readYaml(read('compose.yaml'))
  const instances = ['millrace-1', 'millrace-2', 'millrace-3']
  const nginx = read('deploy/nginx.conf')

  test('nginx knows the instances by the addresses they have', () => {
    const hosts = instances.map(
      (name) => `${name}:${String(at(compose, `services.${name}.networks.site.ipv4_address`))}`,
    )
    expect(at(compose, 'services.nginx.extra_hosts')).toEqual(hosts)
    for (const name of instances) expect(nginx).toContain(`server ${name}:3000 `)
  })

  test('instances believe nginx and nobody else', () => {
    const address = at(compose, 'services.nginx.networks.site.ipv4_address')
    for (const name of instances) expect(at(compose, `services.${name}.environment.TRUST_PROXY`)).toBe(address)
    for (const header of ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Request-Id']) {
      expect(nginx).toMatch(new RegExp(`proxy_set_header ${header} \\$(?!proxy_add|http_x_)`))
    }
  })

  test('each instance has a volume of its own, a read-only root, and the time to stop', () => {
    const volumes = instances.map((name) => String(at(compose, `services.${name}.volumes.0`)))
    expect(new Set(volumes).size).toBe(3)
    for (const name of instances) {
      const service = at(compose, `services.${name}`) as YamlMap
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
      const { shutdownGraceMs } = readConfig({
        ...withDefaults(texts(service['environment'])),
        ...KEYS,
      })
      expect(Number.parseInt(String(service['stop_grace_period']), 10) * 1000).toBeGreaterThan(shutdownGraceMs)
    }
  })

  test('instances share a folder for the files of former builds, at the place that their user may write to', () => {
    for (const name of instances) {
      const folder = String(at(compose, `services.${name}.environment.ASSETS_DIR`))
      const volumes = at(compose, `services.${name}.volumes`) as string[]
      expect(volumes).toContain(`assets:${folder}`)
      expect(ownFolders()).toContain(folder)
    }
    expect(Object.keys(at(compose, 'volumes') as YamlMap)).toContain('assets')
  })

  test('instances share a store that throws no report out', () => {
    const address = at(compose, 'services.valkey.networks.site.ipv4_address')
    for (const name of instances) {
      const { redisUrl } = readConfig({
        ...withDefaults(texts(at(compose, `services.${name}.environment`))),
        ...KEYS,
      })
      expect(new URL(redisUrl)).toMatchObject({ hostname: address, password: PASSWORD })
    }
    const command = at(compose, 'services.valkey.command') as string[]
    expect(command[command.indexOf('--maxmemory-policy') + 1]).toBe('volatile-lru')
    expect(command[command.indexOf('--appendonly') + 1]).toBe('yes')
    expect(at(compose, 'services.valkey.profiles')).toBeUndefined()
  })

  test('it holds no secret, and does not start without one', () => {
    for (const name of instances)
      expect(at(compose, `services.${name}.environment.SECRET_KEYS`)).toMatch(/^\$\{SECRET_KEYS:\?/)
    expect(at(compose, 'services.valkey.environment.VALKEY_PASSWORD')).toMatch(/^\$\{VALKEY_PASSWORD:\?/)
  })
})

describe('nginx.conf', () => {
  const directives = (name: string): string[] =>
    [...read('deploy/nginx.conf').matchAll(new RegExp(`^\\s*${name}\\s+([^;]+);`, 'gm'))].map(
      ([, value]) => value ?? '',
    )

  test('streams go through', () => {
    expect(directives('proxy_buffering')[0]).toBe('off')
    expect(directives('proxy_request_buffering')).toEqual(['off'])
    expect(directives('gzip')).toEqual(['off'])
    expect(directives('proxy_http_version')).toEqual(['1.1'])
  })

  test('nginx has room for the largest headers, and no answer takes an instance away', async () => {
    const { MAX_HEAD_BYTES } = await import('../../../src/server/http/header-list.ts')
    const [size = ''] = directives('proxy_buffer_size')
    expect(size).toMatch(/^\d+k$/)
    // Status line, Date, Connection, Keep-Alive and Transfer-Encoding.
    expect(Number.parseInt(size, 10) * 1_024).toBeGreaterThan(MAX_HEAD_BYTES + 2_048)
    const instances = directives('server').filter((value) => value.startsWith('millrace-'))
    expect(instances.map((value) => value.split(' ')[1])).toEqual(['max_fails=0', 'max_fails=0', 'max_fails=0'])
  })

  test('nginx is the one to close what is idle', async () => {
    const { setServerLimits } = await import('../../../src/server/process/server-limits.ts')
    const { createServer } = await import('node:http')
    const server = createServer()
    setServerLimits(server)
    const [toServers = ''] = directives('keepalive_timeout')
    expect(Number.parseInt(toServers, 10) * 1000).toBeLessThan(server.keepAliveTimeout)
  })
})
