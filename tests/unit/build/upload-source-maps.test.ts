import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { debugIdOf } from '../../../src/shared/reports/debug-id.ts'
import { startSourceMapService, type ServiceOptions } from '../../support/source-map-service.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const TOKEN = 'sntrys_secret'

const COMMAND = resolve(import.meta.dirname, '../../../bin/millrace.js')
const SCRIPT = 'page-CCCCCCCC.js'
const WRITTEN = `run()\n//# debugId=${debugIdOf(SCRIPT)}\n//# sourceMappingURL=${SCRIPT}.map\n`
const MAP = JSON.stringify({
  version: 3,
  sources: ['page.ts'],
  names: [],
  mappings: 'AAAA',
  debugId: debugIdOf(SCRIPT),
})

async function smallBuild(): Promise<string> {
  const folder = await makeTempDir('maps')
  onTestFinished(() => folder.remove())
  for (const name of ['public', 'maps']) await mkdir(join(folder.path, name))
  await writeFile(join(folder.path, 'manifest.json'), '{"buildId":"b7"}')
  await writeFile(join(folder.path, 'public', SCRIPT), 'run()')
  await writeFile(join(folder.path, 'maps', `${SCRIPT}.map`), MAP)
  await writeFile(join(folder.path, 'maps', 'page-CCCCCCCC.css.map'), '{}')
  return folder.path
}

const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  promisify(execFile)(process.execPath, ['--conditions=millrace-source', COMMAND, 'upload-source-maps', ...args], {
    env,
  }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
  )

/** Uploads a small build to a stand-in of the service. */
async function upload(options?: ServiceOptions) {
  const [out, service] = [await smallBuild(), await startSourceMapService(options)]
  const variables = { SENTRY_ORG: 'mills', SENTRY_PROJECT: 'website', SENTRY_AUTH_TOKEN: TOKEN, HOME: out }
  return { service, ...(await run(['--out', out], { SENTRY_URL: service.url, ...variables })) }
}

test('uploads a build', async () => {
  const { service, code, text } = await upload()
  expect([code, text]).toEqual([0, expect.stringContaining('the maps of 1 scripts')])
  expect(service.assembly()).toMatchObject({ projects: ['website'], version: 'b7' })
  expect(new Set(service.tokens)).toEqual(new Set([`Bearer ${TOKEN}`]))
  const file = (name: string) => service.files().get(name)?.toString() ?? ''
  expect(file(`files/_/_/_m/assets/${SCRIPT}`)).toBe(WRITTEN)
  const headers = { 'debug-id': debugIdOf(SCRIPT) }
  expect(JSON.parse(file('manifest.json'))).toMatchObject({
    files: {
      [`files/_/_/_m/assets/${SCRIPT}`]: {
        type: 'minified_source',
        url: `~/_m/assets/${SCRIPT}`,
        headers: { ...headers, sourcemap: `${SCRIPT}.map` },
      },
      [`files/_/_/_m/assets/${SCRIPT}.map`]: { type: 'source_map', url: `~/_m/assets/${SCRIPT}.map`, headers },
    },
  })
})

test.for([
  ['a token that is refused', { status: 401, body: '{"detail":"Invalid token"}' }, /http status: 401/],
  ['a page in place of the interface', { body: '<html>' }, /JSON/],
] as const)('%s ends it with code 1, without the token', async ([, answer, message]) => {
  const { code, text } = await upload({ script: () => answer })
  expect([code, text]).toEqual([1, expect.stringMatching(message)])
  expect(text).not.toContain(TOKEN)
})

test('a redirect does not take the token elsewhere', async () => {
  const elsewhere = await startSourceMapService()
  const { code } = await upload({ script: () => ({ status: 302, headers: { Location: `${elsewhere.url}/` } }) })
  expect([code, elsewhere.tokens.filter((token) => token !== undefined)]).toEqual([1, []])
})

test('writes scripts and maps for other tools, and sends nothing', async () => {
  const out = await smallBuild()
  const folder = join(out, 'for-tools')
  expect(await run(['--out', out, '--write', folder], {})).toMatchObject({ code: 0 })
  expect(await readdir(folder)).toEqual([SCRIPT, `${SCRIPT}.map`])
  expect(await readFile(join(folder, SCRIPT), 'utf8')).toBe(WRITTEN)
})

test.for([
  [{}, /^SENTRY_ORG is not set/],
  [{ SENTRY_ORG: 'mills', SENTRY_PROJECT: 'website' }, /^SENTRY_AUTH_TOKEN is not set/],
  [{ SENTRY_URL: 'errors.example.com' }, /^SENTRY_URL is not a URL of a service: 'errors\.example\.com'/],
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
