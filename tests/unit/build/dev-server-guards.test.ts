import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { DevFailure } from '../../../src/client/dev/dev-messages.ts'
import { startDevServer, type DevServer } from '../../../scripts/dev/dev-server.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const CANARY = 'a-key-that-nobody-is-to-see'
const PAGE = '/_m/assets/src/app/lab/page.tsx'
const PLACE = JSON.stringify({ file: 'src/app/lab/page.tsx', line: 1, column: 1 })
const OWN = ['/_m/dev', PAGE, '/_m/assets/dev-entry.js', '/_m/assets/segments-development.json']

let project: FixtureProject
let dev: DevServer

beforeAll(async () => {
  project = await copyProject({
    '.env': `SECRET_KEYS=${CANARY}\n`,
    'data/secret-keys': `${CANARY}\n`,
    'src/app/keys.json': `{"key":"${CANARY}"}\n`,
    'src/app/notes.ts': `export const note = '${CANARY}'\n`,
  })
  dev = await startDevServer({
    ...project.options,
    out: join(project.options.root, '.dev'),
    port: 0,
    env: { ...process.env, PUBLIC_TITLE: 'Title', LAUNCH_EDITOR: 'no-such-editor-here' },
    session: 'one',
    print: () => undefined,
  })
})

afterAll(async () => {
  await dev?.close()
  await project?.remove()
})

/** Status, headers and, but for event streams, the body. */
function ask(path: string, headers: Readonly<Record<string, string>>, body?: string) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>((resolve, reject) => {
    const asked = request(dev.url + path, { headers, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
      const { statusCode = 0, headers: said } = answer
      if (said['content-type'] === 'text/event-stream') {
        asked.destroy()
        return resolve({ status: statusCode, headers: said, text: '' })
      }
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: statusCode, headers: said, text }))
    })
    asked.once('error', reject).end(body)
  })
}

async function explain(stack: string): Promise<string> {
  const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
  const { status, text } = await ask('/_m/dev/stack', headers, JSON.stringify({ message: 'boom', stack }))
  expect(status).toBe(200)
  expect((JSON.parse(text) as DevFailure).message).toBe('boom')
  return text
}

describe('the development server gives out what its build knows', () => {
  test('no stack makes it read a file by its name', async () => {
    const { root } = project.options
    await ask(PAGE, {})
    // Browsers get references to actions in the place of this module.
    expect((await ask('/_m/assets/src/app/lab/actions.server.ts', {})).status).toBe(200)
    for (const file of [
      join(root, 'src/app/lab/actions.server.ts'),
      `${dev.url}/_m/assets/src/app/lab/actions.server.ts`,
      join(root, '.env'),
      join(root, 'data/secret-keys'),
      join(root, 'src/app/keys.json'),
      join(root, 'src/app/notes.ts'),
      join(root, 'src/app/home.server.ts'),
      '/etc/passwd',
      '.env',
      `${dev.url}/_m/assets/.env`,
      `${dev.url}/_m/assets/@up/@up/etc/passwd`,
      `file://${join(root, '.env')}`,
    ]) {
      const said = await explain(`Error: boom\n    at x (${file}:1:1)\nx@${file}:1:1\n    at ${file}:1:1`)
      expect([file, said.includes('excerpt')]).toEqual([file, false])
      expect(said).not.toContain(CANARY)
    }
    // What browsers have got is explained.
    expect(await explain(`Error: boom\n    at x (${join(root, 'src/app/lab/page.tsx')}:1:1)`)).toContain('excerpt')
  })

  test.for([
    '.env',
    'data/secret-keys',
    'package.json',
    'src/app/keys.json',
    'src/app/notes.ts',
    'src/app/home.server.ts',
    '@up/@up/etc/passwd',
    '%2e%2e/%2e%2e/etc/passwd',
    'styles/.env',
    'styles/@up/.env',
    'constructor',
    '__proto__',
  ])('%s is not there', async (name) => {
    for (const path of [`/_m/assets/${name}`, `/_m/assets/${name}?v=1`, `/${name}`]) {
      const { status, text } = await ask(path, {})
      expect([path, status]).toEqual([path, 404])
      expect(text).not.toContain(CANARY)
    }
  })

  test('a stack that is long, or of many calls, does not keep it from answering', async () => {
    const body = (stack: string): string => JSON.stringify({ message: 'boom', stack })
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
    await ask(PAGE, {})
    const line = `    at x (${dev.url}${PAGE}:2:1)\n`
    for (const stack of ['@'.repeat(99_000), line.repeat(1_000)]) {
      expect((await ask('/_m/dev/stack', headers, body(stack))).status).toBe(200)
    }
    expect((await ask('/_m/dev/stack', headers, body('@'.repeat(120_000)))).status).toBe(413)
  })
})

describe('the development server answers its own pages', () => {
  test.for([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example' },
    { Origin: 'http://localhost:1' },
    { Origin: 'null' },
    { Host: 'evil.example' },
  ])('and no others: %j', async (headers) => {
    for (const path of OWN) expect([path, (await ask(path, headers)).status]).toEqual([path, 403])
    const type = { 'Content-Type': 'application/json' }
    for (const path of ['/_m/dev/stack', '/_m/dev/open'])
      expect([path, (await ask(path, { ...headers, ...type }, PLACE)).status]).toEqual([path, 403])
    expect(await handshake(headers)).toBe('')
  })

  test('a page of another site can neither send a stack unasked nor embed what is served', async () => {
    const plain = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'text/plain' }
    for (const path of ['/_m/dev/stack', '/_m/dev/open']) {
      expect((await ask(path, { 'Content-Type': 'application/json' }, PLACE)).status).toBe(403)
      expect((await ask(path, plain, PLACE)).status).toBe(415)
      expect((await ask(path, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(403) // not by a link
    }
    for (const path of OWN) {
      const { status, headers } = await ask(path, { 'Sec-Fetch-Site': 'same-origin' })
      expect([path, status]).toEqual([path, 200])
      expect(headers).toMatchObject({
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      })
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  test('a page has only files of the project opened, at a position', async () => {
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
    const open = (place: unknown) => ask('/_m/dev/open', headers, JSON.stringify(place))
    for (const file of ['/etc/passwd', '../outside', 'src/app/missing.tsx', 'node_modules/react/index.js', ''])
      expect([file, (await open({ file, line: 1, column: 1 })).status]).toEqual([file, 422])
    for (const place of [
      {},
      [],
      { file: 'src/app/app.ts' },
      { file: 1, line: 1, column: 1 },
      { file: 'src/app/app.ts', line: '1; rm', column: 1 },
      { file: 'src/app/app.ts', line: 0, column: 1 },
      { file: 'src/app/app.ts', line: 1.5, column: 1 },
      { file: 'src/app/app.ts', line: 1, column: 1e9 },
    ])
      expect([place, (await open(place)).status]).toEqual([place, 400])
    expect((await ask('/_m/dev/open', headers, `"${'x'.repeat(120_000)}"`)).status).toBe(413)
    expect((await open(JSON.parse(PLACE))).status).toBe(422) // there is no such editor
  })

  test('a page that is opened from another site is the application’s to answer', async () => {
    const navigation = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }
    expect((await ask('/(lab)/lab', navigation)).status).toBe(200)
  })

  test('its own WebSockets reach the application', async () => {
    expect(await handshake({ Origin: dev.url })).toMatch(/^HTTP\/1\.1 \d/)
  })
})

/** What a handshake is answered; `''` where the connection is closed without a word. */
async function handshake(headers: Readonly<Record<string, string>>): Promise<string> {
  const { hostname, host, port } = new URL(dev.url)
  const socket = connect(Number(port), hostname)
  const upgrade = { Host: host, Connection: 'Upgrade', Upgrade: 'websocket', ...headers }
  const lines = Object.entries(upgrade).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET /socket HTTP/1.1\r\n${lines.join('')}\r\n`)
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
    socket.end()
  })
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return text
}
