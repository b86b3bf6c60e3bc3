import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { artifactBundle, readMappedScripts, type MappedScript } from '../../../scripts/source-maps/artifact-bundle.ts'
import { uploadBundle } from '../../../scripts/source-maps/upload-bundle.ts'
import { debugIdOf } from '../../../src/shared/reports/debug-id.ts'
import { json, readBundle, startSourceMapService, type SourceMapService } from '../../support/source-map-service.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const TOKEN = 'sntrys_secret'
const SCOPE = { org: 'mills', project: 'website', release: 'b1' }
const ASSEMBLE = 'POST /api/0/organizations/mills/artifactbundle/assemble/'

/** Two scripts; their maps are too much at random to be compressed. */
const SCRIPTS: readonly MappedScript[] = ['client-AAAAAAAA.js', 'chunk-BBBBBBBB.js'].map((name) => ({
  name,
  debugId: debugIdOf(name),
  script: Buffer.from(`run("${name}")`),
  map: crypto.getRandomValues(new Uint8Array(5_000)),
}))

function upload(service: SourceMapService, waits: number[] = []): Promise<void> {
  const target = { ...SCOPE, url: `${service.url}/`, token: TOKEN }
  const wait = (milliseconds: number) => Promise.resolve(waits.push(milliseconds))
  return uploadBundle(artifactBundle(SCRIPTS, SCOPE), target, { fetch, wait })
}

describe('a bundle', () => {
  test('holds scripts and maps by their debug ids, in the service’s layout', () => {
    const files = readBundle(artifactBundle(SCRIPTS, SCOPE))
    const manifest = JSON.parse(files.get('manifest.json')?.toString() ?? '') as { files: Record<string, object> }
    expect(manifest).toMatchObject(SCOPE)
    expect([...files.keys()].toSorted()).toEqual([...Object.keys(manifest.files), 'manifest.json'].toSorted())
    const id = debugIdOf('client-AAAAAAAA.js')
    expect(manifest.files['files/_/_/_m/assets/client-AAAAAAAA.js']).toEqual({
      type: 'minified_source',
      url: '~/_m/assets/client-AAAAAAAA.js',
      headers: { 'debug-id': id, sourcemap: 'client-AAAAAAAA.js.map' },
    })
    expect(manifest.files['files/_/_/_m/assets/client-AAAAAAAA.js.map']).toEqual({
      type: 'source_map',
      url: '~/_m/assets/client-AAAAAAAA.js.map',
      headers: { 'debug-id': id },
    })
    expect(files.get('files/_/_/_m/assets/client-AAAAAAAA.js')?.toString()).toBe('run("client-AAAAAAAA.js")')
    expect(files.get('files/_/_/_m/assets/chunk-BBBBBBBB.js.map')).toEqual(Buffer.from(SCRIPTS[1]?.map ?? []))
  })

  test('is the same for the same scripts', () => {
    expect(artifactBundle(SCRIPTS, SCOPE).equals(artifactBundle(SCRIPTS, SCOPE))).toBe(true)
  })
})

describe('the service', () => {
  test('gets the bundle for project and release, in one piece where it is small', async () => {
    const service = await startSourceMapService()
    await upload(service)
    expect(service.assembly()).toMatchObject({ projects: ['website'], version: 'b1' })
    expect(service.files().size).toBe(5)
    expect(service.pieces.size).toBe(1)
    expect(new Set(service.tokens)).toEqual(new Set([`Bearer ${TOKEN}`]))
  })

  test('gets it in pieces and requests no larger than it wants them', async () => {
    const service = await startSourceMapService({ chunkSize: 1_000, chunksPerRequest: 4, maxRequestSize: 2_500 })
    await upload(service)
    expect(service.files().size).toBe(5)
    expect(service.pieces.size).toBeGreaterThan(10)
    expect(service.largestRequest()).toBe(2_000)
  })

  test('is sent again what it has lost, and nothing else', async () => {
    const lost: string[] = []
    const service = await startSourceMapService({
      chunkSize: 1_000,
      script(request, _number, { pieces }) {
        const [first = ''] = pieces.keys()
        if (request === ASSEMBLE && lost.length === 0 && pieces.delete(first)) lost.push(first)
        return undefined
      },
    })
    await upload(service)
    expect(service.files().size).toBe(5)
    expect(
      service.requests.filter((request) => request.endsWith('chunk-upload/') && request.startsWith('POST')),
    ).toHaveLength(2)
    expect(service.largestRequest()).toBeGreaterThan(5_000)
  })

  test('is waited for while it puts the bundle together', async () => {
    const states = ['created', 'assembling']
    const service = await startSourceMapService({
      script: (request) => (request === ASSEMBLE && states.length > 0 ? json({ state: states.shift() }) : undefined),
    })
    const waits: number[] = []
    await upload(service, waits)
    expect(waits).toEqual([1_000, 1_000])
    expect(service.files().size).toBe(5)
  })

  test('is asked again where it fails in passing', async () => {
    const service = await startSourceMapService({ script: (_, number) => (number === 1 ? { status: 502 } : undefined) })
    await upload(service)
    expect(service.files().size).toBe(5)
  })
})

describe('is told in one line, without the token', () => {
  const cases: readonly (readonly [string, Parameters<typeof startSourceMapService>[0], RegExp])[] = [
    [
      'a token that is not taken',
      { script: () => ({ status: 401, body: '{"detail":"Invalid token"}' }) },
      /answered 401: .*Invalid/,
    ],
    ['a failure that stays', { script: () => ({ status: 503 }) }, /answered 503/],
    ['a service without bundles', { accept: ['release_files'] }, /takes no artifact bundles/],
    ['a page in place of the interface', { script: () => ({ body: '<html>' }) }, /no interface of the service/],
    [
      'a bundle that is refused',
      { script: (request) => (request === ASSEMBLE ? json({ state: 'error', detail: 'too old' }) : undefined) },
      /could not take the bundle in: too old/,
    ],
    [
      'a redirect to elsewhere',
      { script: () => ({ status: 302, headers: { Location: 'http://127.0.0.1:9/' } }) },
      /cannot be reached/,
    ],
    [
      'an end that never comes',
      { script: (request) => (request === ASSEMBLE ? json({ state: 'created' }) : undefined) },
      /five minutes/,
    ],
  ]
  test.for(cases)('%s', async ([, options, message]) => {
    const service = await startSourceMapService(options)
    const failure = await upload(service).catch((thrown: unknown) => thrown as Error)
    expect(failure).toMatchObject({ name: 'UploadError', message: expect.stringMatching(message) })
    expect(String(failure)).not.toContain(TOKEN)
  })
})

describe('the command', () => {
  const COMMAND = resolve(import.meta.dirname, '../../../scripts/upload-source-maps.ts')
  const SCRIPT = 'page-CCCCCCCC.js'

  async function smallBuild(): Promise<string> {
    const folder = await makeTempDir('maps')
    onTestFinished(() => folder.remove())
    for (const name of ['public', 'maps']) await mkdir(join(folder.path, name))
    await writeFile(join(folder.path, 'manifest.json'), '{"buildId":"b7"}')
    await writeFile(join(folder.path, 'public', SCRIPT), 'run()')
    await writeFile(join(folder.path, 'maps', `${SCRIPT}.map`), '{"version":3}')
    await writeFile(join(folder.path, 'maps', 'page-CCCCCCCC.css.map'), '{}')
    return folder.path
  }

  const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    promisify(execFile)(process.execPath, [COMMAND, ...args], { env }).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
    )

  test('uploads a build', async () => {
    const [out, service] = [await smallBuild(), await startSourceMapService()]
    const env = { SENTRY_URL: service.url, SENTRY_ORG: 'mills', SENTRY_PROJECT: 'website', SENTRY_AUTH_TOKEN: TOKEN }
    expect(await run(['--out', out], env)).toMatchObject({
      code: 0,
      text: expect.stringContaining('the maps of 1 scripts'),
    })
    expect(service.assembly()).toMatchObject({ version: 'b7' })
    expect(service.files().get(`files/_/_/_m/assets/${SCRIPT}`)?.toString()).toBe(
      `run()\n//# debugId=${debugIdOf(SCRIPT)}\n//# sourceMappingURL=${SCRIPT}.map\n`,
    )
  })

  test('writes scripts and maps for other tools, and sends nothing', async () => {
    const out = await smallBuild()
    const folder = join(out, 'for-tools')
    expect(await run(['--out', out, '--write', folder], {})).toMatchObject({ code: 0 })
    expect(await readdir(folder)).toEqual([SCRIPT, `${SCRIPT}.map`])
    const [script] = await readMappedScripts(out)
    expect(await readFile(join(folder, SCRIPT))).toEqual(script?.script)
  })

  test.for([
    [{}, /^SENTRY_ORG is not set/],
    [{ SENTRY_ORG: 'mills', SENTRY_PROJECT: 'website' }, /^SENTRY_AUTH_TOKEN is not set/],
    [{ SENTRY_URL: 'errors.example.com' }, /^SENTRY_URL is no URL of a service: 'errors\.example\.com'/],
  ] as const)('says what is missing of %o', async ([env, message]) => {
    const { code, text } = await run(['--out', await smallBuild()], env)
    expect([code, text]).toEqual([1, expect.stringMatching(message)])
  })

  test('says where there is no build', async () => {
    expect(await run(['--out', '/nowhere'], {})).toMatchObject({
      code: 1,
      text: expect.stringContaining('holds no build'),
    })
  })
})
