/** Replays J: files and facts that nobody outside may see. See `README.md`. */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { getRequest, requestRaw } from '../../support/raw-http.ts'
import { recordsOf } from '../../support/route-data.ts'
import { replayServer, SECRETS, SIGN, SIGNATURE, steadyText } from '../../support/replay-server.ts'
import { serverOfTest } from '../../support/server-of-test.ts'

const PUBLIC = resolve(import.meta.dirname, '../../../dist/public')
const site = replayServer()

/** The script that every page loads, as a browser finds it. */
async function entryScript(): Promise<string> {
  return /\/_m\/assets\/[\w.-]+\.js/.exec((await site.get('/')).text)?.[0] ?? ''
}

test.for([
  '/_m/assets/..%2f..%2fpackage.json',
  '/_m/assets/..%2f..%2f..%2fpackage.json',
  '/_m/assets/%2e%2e%2fserver%2fmain.js',
  '/_m/assets/%252e%252e%252fserver%252fmain.js',
  '/_m/assets/..%5c..%5cpackage.json',
  '/_m/assets/./../server/main.js',
  '/_m/assets/../../server/main.js',
  '/_m/assets/%2e%2e/server/main.js',
  '/_m/assets/%2e/../',
  '/_m/assets/....//....//package.json',
  '/_m/assets//etc/passwd',
  '/_m/assets/%2fetc%2fpasswd',
  '/_m/assets/C:%5cwindows%5cwin.ini',
  '/_m/assets/%5c%5clocalhost%5cc$%5cwin.ini',
  '/_m/assets/..;/..;/package.json',
  '/_m/assets/.',
  '/_m/assets/..',
  '/_m/assets/%00',
  '/_m/assets/a%00.js',
  '/_m/assets/file:%2f%2f%2fetc%2fpasswd',
  '/docs/..%2f..%2fpackage.json',
  '/docs/..%2fREADME',
  '/docs/%2e%2e/%2e%2e/package',
  '/docs/decisions%2f0001-flat-route-table',
  '/docs/decisions/0001-flat-route-table',
  '/docs/..%2fREADME.md',
  '/docs/api.txt',
])('J1 no path leads out of its folder: %s', async (target) => {
  for (const prefix of target.startsWith('/docs') ? ['', '/_m/data'] : ['']) {
    const answer = await site.get(prefix + target)
    // Data of the layout may go out before the page's loader has found nothing.
    if (answer.status === 200)
      expect(recordsOf(answer.text)).toContainEqual({
        outcome: expect.objectContaining({ kind: 'notFound' }) as object,
      })
    else expect(answer.status).toBeOneOf([308, 400, 404])
    expect(answer.text).not.toMatch(/"devDependencies"|root:x:0|## Context/)
  }
})

test.for([
  '/src/',
  '/src/app/routes.ts',
  '/src/server/main.ts',
  '/@fs/etc/passwd?raw??',
  '/@fs/etc/passwd?import&raw??',
  '/@id/x',
  '/@vite/client',
  '/_m/dev/client.js',
  '/server/main.js',
  '/server/index.js',
  '/dist/server/main.js',
  '/_m/server/main.js',
  '/manifest.json',
  '/dist/manifest.json',
  '/_m/manifest.json',
  '/.vite/manifest.json',
  '/package.json',
  '/package-lock.json',
  '/.git/HEAD',
  '/.git/config',
  '/.env',
  '/.env.production',
  '/.npmrc',
  '/node_modules/',
  '/node_modules/react/package.json',
  '/data/',
  '/data/millrace.sqlite',
  '/data/secret-keys',
  '/metrics',
  '/_m/metrics',
  '/debug/pprof/',
  '/server-status',
  '/.well-known/security.txt/../../package.json',
])('J3 nothing of the source, the build or the machine is served: %s', async (target) => {
  expect((await site.get(target)).status).toBeOneOf([308, 400, 404])
})

test('J3 files of the build come without their source maps', async () => {
  const entry = await entryScript()
  const script = await site.get(entry)
  expect([script.status, script.text.includes('sourceMappingURL')]).toEqual([200, false])
  for (const ending of ['.map', '.gz', '.br', '.zst', '.zstd', '?map', '/', '%00', '%2e', '~', '.bak']) {
    const answer = await site.get(entry + ending)
    expect([ending, answer.status]).toEqual([ending, ending === '?map' ? 200 : expect.toBeOneOf([308, 400, 404])])
    if (answer.status === 200) expect(answer.text).not.toContain('"mappings"')
  }
})

test('F10 J assets say what they are, to their own site alone', async () => {
  const names = readdirSync(PUBLIC).filter((name) => /\.(?:js|css|svg)$/.test(name))
  for (const ending of ['js', 'css', 'svg']) {
    const name = names.find((found) => found.endsWith(`.${ending}`)) ?? ''
    const { status, header } = await site.get(`/_m/assets/${name}`)
    expect([name, status, header('x-content-type-options')]).toEqual([name, 200, 'nosniff'])
    expect(header('cross-origin-resource-policy')).toBe('same-origin')
    expect(header('content-type')).toMatch(/^(?:text\/javascript|text\/css|image\/svg\+xml)/)
  }
})

test('J6 the log holds no cookie, credential, query or body', async () => {
  const seen = site.server.stdout.length
  const secret = 'visitors-secret-77'
  const headers = {
    Cookie: `__Host-lab=${secret}`,
    Authorization: `Bearer ${secret}`,
    'Proxy-Authorization': `Basic ${secret}`,
    'X-Api-Key': secret,
    Referer: `http://localhost/?token=${secret}`,
  }
  for (const target of [
    `/lab/params/${secret}?token=${secret}`,
    `/lab/private?code=${secret}`,
    `/%?${secret}`,
    `/${secret}`,
  ]) {
    await site.get(target, headers)
  }
  await site.sign(headers, `name=&message=&password=${secret}`)
  await site.post(`/_m/data/lab/guestbook?_action=${SIGN}`, `{"input":"${secret}"`, {
    ...headers,
    'Content-Type': 'application/json',
  })
  await site.get('/healthz?last')
  const lines = (): string => site.server.stdout.slice(seen).join('\n')
  await expect.poll(() => lines().match(/"route":"\/_m\/data/g)?.length ?? 0, { timeout: 5_000 }).toBeGreaterThan(0)
  expect(lines()).not.toContain(secret)
})

test('J7 no secret of the environment reaches a browser', async () => {
  const files = readdirSync(PUBLIC, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:js|css|json|svg)$/.test(name),
  )
  const served = files.map((name) => readFileSync(resolve(PUBLIC, name), 'utf8'))
  site.permit(500)
  for (const target of [
    '/',
    '/lab',
    '/lab/session',
    '/lab/crash/loader',
    '/lab/crash/late',
    '/_m/data/lab/crash/loader',
  ]) {
    served.push((await site.get(target)).text)
  }
  for (const secret of SECRETS) expect(served.filter((text) => text.includes(secret))).toEqual([])
  expect(served.filter((text) => /process\.env\.(?!NODE_ENV)\w+/.test(text) && !text.includes('<'))).toEqual([])
})

test('J9 two instances of one build cannot be told apart', async () => {
  const other = await serverOfTest({ env: { SECRET_KEYS: 'another-key-of-another-instance' } })
  const entry = await entryScript()
  for (const target of [
    '/',
    '/lab/params/x',
    '/_m/data/lab/params/x',
    '/_m/build.json',
    '/robots.txt',
    '/nope',
    entry,
  ]) {
    const here = await site.get(target)
    const there = await requestRaw(other.port, getRequest(target))
    expect(steadyText(there)).toBe(steadyText(here))
    expect(there.header('etag')).toBe(here.header('etag'))
    expect(there.header('last-modified')).toBe(here.header('last-modified'))
    expect(there.header('server')).toBeUndefined()
  }
  expect((await site.sign({}, `${SIGNATURE}&x=1`)).status).toBe(303)
  site.expectChanges(1)
})
