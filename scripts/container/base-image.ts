import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findExecutable } from '../../tests/support/programs.ts'
import { collectOutput } from './collect-output.ts'
import type { Engine } from './engine.ts'

/** The parts of the base image are not available on this machine. */
class BaseImageError extends Error {
  override readonly name = 'BaseImageError'
}

const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'
/** Needed by Node, and missing in a minimal Debian. */
const LIBRARIES = ['libatomic1']
/** A temporary folder need not survive a power cut: syncing every file to the disk takes half a minute. */
const UNSYNCED = { DPKG_FORCE: 'unsafe-io' }
/** npm's settings for its registry, without keys: a registry that requires a login is not supported. */
const NPM_SETTINGS = ['registry', 'cafile', 'proxy', 'https-proxy', 'noproxy', 'strict-ssl'] as const
/** apt's settings for its mirror. */
const APT_SETTINGS = /^Acquire::(?:https?::(?!Proxy-Auto-Detect|User-Agent)|Check-|Retries|ForceIPv)[^\n]* "[^"\n]+";$/

/**
 * Makes a substitute for the official image of Node, because no image registry may be reachable: the Debian of this
 * machine from its own mirror, the Node that package.json pins, and the npm of this machine. Settings and environment
 * of this machine determine how apt and npm reach their registries, including certificates.
 * @param context absolute path of the project, with its packages installed.
 * @param root absolute path of the folder to create.
 * @throws {BaseImageError} naming the missing part; `ProgramError` if a download fails.
 */
export async function makeBaseImage(engine: Engine, context: string, root: string, tag: string): Promise<void> {
  const release = /^VERSION_CODENAME="?([\w-]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  if (release === undefined) throw new BaseImageError('/etc/os-release names no release: this needs Debian or Ubuntu')
  const { mirror, component } = await findMirror(release)
  const settings = (await collectOutput('apt-config', ['dump', 'Acquire'], { cwd: '/' }))
    .split('\n')
    .filter((line) => APT_SETTINGS.test(line))
  const packages = `--include=${LIBRARIES.join(',')}`
  await collectOutput('debootstrap', ['--variant=minbase', packages, release, root, mirror], {
    cwd: '/',
    env: { ...proxyOf(settings), ...UNSYNCED },
  })
  write(root, '/etc/apt/sources.list', `deb ${mirror} ${release} ${component}\n`)
  write(root, '/etc/apt/apt.conf.d/90machine', settings.map((line) => `${line}\n`).join(''))
  layNode(context, root)
  const npm = await readNpmSettings(context)
  write(
    root,
    '/usr/local/etc/npmrc',
    Object.entries(npm)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const env = copyCertificates(root, [npm['cafile'], ...settings.map((line) => /"(\/[^"]+)"/.exec(line)?.[1])])
  await engine.pack(root, tag, { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env })
}

async function findMirror(release: string): Promise<{ readonly mirror: string; readonly component: string }> {
  const targets = await collectOutput('apt-get', ['indextargets', '--format', '$(RELEASE) $(SITE) $(COMPONENT)'], {
    cwd: '/',
  })
  const rows = targets.split('\n').map((line) => line.split(' '))
  const own = rows.filter(([suite, site]) => suite === release && site !== undefined)
  const [, mirror] = own[0] ?? []
  if (mirror === undefined) throw new BaseImageError(`apt has no mirror for ${release}`)
  // In Ubuntu, tini is in another component.
  const components = new Set(own.filter(([, site]) => site === mirror).map(([, , component = 'main']) => component))
  return { mirror, component: [...components].join(' ') }
}

/** debootstrap uses other download programs than apt, which read the environment. */
function proxyOf(settings: readonly string[]): Record<string, string> {
  const proxies = settings.flatMap((line) => {
    const [, scheme, proxy] = /^Acquire::(https?)::Proxy "(.+)";$/.exec(line) ?? []
    return scheme === undefined || proxy === undefined ? [] : [[`${scheme}_proxy`, proxy]]
  })
  return Object.fromEntries(proxies)
}

function layNode(context: string, root: string): void {
  const node = join(context, 'node_modules/node/bin/node')
  if (!existsSync(node)) throw new BaseImageError(`${node} is missing: npm ci`)
  const npm = findExecutable('npm')
  if (npm === undefined) throw new BaseImageError('there is no npm')
  cpSync(realpathSync(node), join(root, 'usr/local/bin/node'))
  const to = '/usr/local/lib/node_modules/npm'
  cpSync(resolve(dirname(realpathSync(npm)), '..'), join(root, to), { recursive: true, dereference: true })
  symlinkSync(`${to}/bin/npm-cli.js`, join(root, 'usr/local/bin/npm'))
}

async function readNpmSettings(context: string): Promise<Readonly<Partial<Record<string, string>>>> {
  const all = JSON.parse(await collectOutput('npm', ['config', 'list', '--json'], { cwd: context })) as Record<
    string,
    unknown
  >
  const set = NPM_SETTINGS.filter((name) => !['', 'null', 'undefined'].includes(String(all[name] ?? '')))
  return Object.fromEntries(set.map((name) => [name, String(all[name])]))
}

/** @returns variables that name certificates, which are also valid in the image: files have the same paths there. */
function copyCertificates(root: string, further: readonly (string | undefined)[]): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].filter((name) => existsSync(process.env[name] ?? ''))
  const env = Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']))
  for (const file of new Set([BUNDLE, ...further, ...Object.values(env)])) {
    if (file !== undefined && existsSync(file)) write(root, file, readFileSync(file))
  }
  return env
}

function write(root: string, path: string, contents: string | Uint8Array): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, contents)
}
