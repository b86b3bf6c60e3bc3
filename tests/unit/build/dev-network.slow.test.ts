import { X509Certificate } from 'node:crypto'
import { cp, stat, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ownCertificate, readCertificate, type Certificate } from '../../../scripts/dev/serve/certificate.ts'
import { startDevServer, type DevServer, type DevServerOptions } from '../../../scripts/dev/dev-server.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PROJECT = resolve(import.meta.dirname, '../../..')
const TUNNEL = 'mill.ngrok.app'

/** Tells the port of the application's server, which nobody but the gateway is to use. */
const APP = `import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

const tellPort = (req, res, next) => (req.path === '/port' ? res.send(String(req.socket.localPort)) : next())
export default defineApp({ routes, document: Document, middleware: [tellPort] })
`

let temp: TempDir
let dev: DevServer
let secure: DevServer
let certificate: Certificate

/** The small application with the real runtime. */
beforeAll(async () => {
  temp = await makeTempDir('dev-network')
  const root = temp.path
  for (const folder of ['client', 'server', 'shared']) {
    await cp(join(PROJECT, 'src', folder), join(root, 'src', folder), { recursive: true })
  }
  await cp(join(PROJECT, 'tests/fixtures/build-dev'), join(root, 'src/app'), { recursive: true })
  await writeFile(join(root, 'src/app/app.ts'), APP)
  await cp(join(PROJECT, 'package.json'), join(root, 'package.json'))
  await symlink(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
  certificate = await ownCertificate(join(root, 'certificates'), ['localhost', '127.0.0.1'], process.env)
  const start = (out: string, options: Partial<DevServerOptions>): Promise<DevServer> =>
    startDevServer({
      root,
      runtime: { folder: join(root, 'src'), compiled: false },
      app: join(root, 'src/app'),
      out: join(root, out),
      port: 0,
      ...options,
      env: { ...process.env, DATA_DIR: join(root, 'data') },
      session: 'one',
      print: () => undefined,
    })
  dev = await start('.dev', { host: '0.0.0.0', allowHosts: [TUNNEL] })
  secure = await start('.dev-https', { certificate })
})

afterAll(async () => {
  await dev?.close()
  await secure?.close()
  await temp?.remove()
})

interface Asked {
  readonly status: number | undefined
  readonly type: string | undefined
}

function ask(url: URL, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Asked> {
  return new Promise((done, fail) => {
    const send = url.protocol === 'https:' ? secureRequest : request
    const asked = send(url, { method, headers, ca: certificate.cert }, (answer) => {
      const { 'strict-transport-security': strict, 'content-type': type } = answer.headers
      expect(strict).toBeUndefined() // browsers would obey it for all servers of localhost
      done({ status: answer.statusCode, type })
      asked.destroy()
    })
    asked.once('error', fail).end()
  })
}

const local = (path: string): URL => new URL(path, dev.url)

test('a tunnel’s visitors get pages, modules and events under its name, and no other name gets any', async () => {
  const tunnel = { Host: TUNNEL, 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.9' }
  expect(await ask(local('/'), tunnel)).toMatchObject({ status: 200 })
  const ofPage = { ...tunnel, Origin: `https://${TUNNEL}` }
  expect(await ask(local('/_m/dev'), ofPage)).toMatchObject({ status: 200, type: 'text/event-stream' })
  expect(await ask(local('/_m/assets/dev-entry.js'), ofPage)).toMatchObject({ status: 200 })
  for (const path of ['/', '/_m/dev', '/_m/assets/dev-entry.js']) {
    expect((await ask(local(path), { ...tunnel, Host: 'evil.example' })).status).toBe(403)
  }
  expect((await ask(local('/_m/dev'), { ...tunnel, Origin: 'https://evil.example' })).status).toBe(403)
})

test('the server behind it gives no other name anything either: a page in a browser finds its port', async () => {
  for (const url of [dev.url, secure.url]) {
    const [port, server] = await portBehind(url)
    expect(port).not.toBe(Number(new URL(url).port))
    for (const path of ['/', '/_m/data/', '/port']) {
      expect((await ask(new URL(path, server), { Host: `evil.example:${port}` })).status).toBe(403)
      expect((await ask(new URL(path, server), {})).status).toBe(200)
    }
    const post = { Host: `evil.example:${port}`, Origin: `http://evil.example:${port}`, 'Content-Length': '0' }
    expect((await ask(new URL('/?_action=unknown.0', server), post, 'POST')).status).toBe(403)
    const waiting = { ...post, Expect: '100-continue' }
    expect((await ask(new URL('/?_action=unknown.0', server), waiting, 'POST')).status).toBe(403)
    const socket = { Host: `evil.example:${port}`, Connection: 'Upgrade', Upgrade: 'websocket' }
    expect((await ask(server, socket)).status).toBe(403)
  }
})

/** @returns the port of the application's server, and its URL. */
async function portBehind(url: string): Promise<readonly [number, URL]> {
  const send = url.startsWith('https:') ? secureRequest : request
  const port = await new Promise<number>((done, fail) => {
    const asked = send(new URL('/port', url), { ca: certificate.cert }, (answer) => {
      answer.setEncoding('utf8').on('data', (text: string) => done(Number(text)))
    })
    asked.once('error', fail).end()
  })
  return [port, new URL(`http://127.0.0.1:${port}/`)]
}

test('forms of a tunnel’s pages are of the same origin, and those of other sites are not', async () => {
  const post = (headers: Readonly<Record<string, string>>) =>
    ask(local('/?_action=unknown.0'), { Host: TUNNEL, 'Content-Length': '0', ...headers }, 'POST')
  const isHttps = { 'X-Forwarded-Proto': 'https' }
  expect((await post({ ...isHttps, Origin: `https://${TUNNEL}` })).status).toBe(404)
  expect((await post({ Origin: `https://${TUNNEL}` })).status).toBe(403)
  expect((await post({ ...isHttps, Origin: 'https://evil.example' })).status).toBe(403)
})

test('other machines reach it by the addresses that it prints, and cannot say that they use https', async () => {
  expect(new URL(dev.url).hostname).toBe('localhost')
  for (const url of dev.networkUrls) {
    expect((await ask(new URL(url), {})).status).toBe(200)
    const { origin, host } = new URL(url)
    const said = { 'X-Forwarded-Proto': 'https', 'Content-Length': '0' }
    const post = (from: string) => ask(new URL('/?_action=unknown.0', url), { ...said, Origin: from }, 'POST')
    expect([(await post(origin)).status, (await post(`https://${host}`)).status]).toEqual([404, 403])
    expect((await ask(new URL(url), { Host: '192.0.2.1' })).status).toBe(403)
    expect((await ask(new URL('/_m/dev', url), { Origin: origin })).type).toBe('text/event-stream')
  }
})

test('with https the application knows it, its forms are of the same origin, and the page’s events arrive', async () => {
  expect(secure.url).toMatch(/^https:/)
  const { origin } = new URL(secure.url)
  const at = (path: string): URL => new URL(path, secure.url)
  expect(await ask(at('/'), {})).toMatchObject({ status: 200 })
  expect(await ask(at('/_m/dev'), { Origin: origin })).toMatchObject({ type: 'text/event-stream' })
  const post = (from: string) => ask(at('/?_action=unknown.0'), { 'Content-Length': '0', Origin: from }, 'POST')
  expect((await post(origin)).status).toBe(404)
  expect((await post(origin.replace('https:', 'http:'))).status).toBe(403)
})

test('a certificate is made once for the same names, for them alone, and only its user reads the key', async () => {
  const folder = join(temp.path, 'certificates')
  expect(await ownCertificate(folder, ['localhost', '127.0.0.1'], process.env)).toEqual(certificate)
  const other = await ownCertificate(folder, ['localhost', TUNNEL], process.env)
  const { ca, subjectAltName } = new X509Certificate(other.cert)
  expect([ca, subjectAltName]).toEqual([false, `DNS:localhost, DNS:${TUNNEL}`])
  const key = join(dirname(other.selfSigned ?? ''), 'key.pem')
  expect((await stat(key)).mode & 0o077).toBe(0)
  await expect(readCertificate(certificate.selfSigned ?? '', key)).rejects.toThrow(/cannot be used: .*key/)
})

test('a machine without mkcert and openssl is told what to do', async () => {
  const none = ownCertificate(join(temp.path, 'none'), ['localhost'], { PATH: '' })
  await expect(none).rejects.toThrow(/neither mkcert nor openssl is installed.*--cert <file> --key <file>/)
})
