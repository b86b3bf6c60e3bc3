import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import express from 'express'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { millrace } from '../../src/server/api/millrace.ts'
import { startBuiltServer } from '../support/built-server.ts'
import { submitForm } from 'millrace/testing'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { buildShop, embedded, listening, type ShopBuild } from '../support/shop-host.ts'

let shop: ShopBuild
let bare: ShopBuild
let root: ShopBuild

beforeAll(async () => {
  shop = await buildShop('/shop')
  bare = await buildShop('/a.b/c', 'bare')
  root = await buildShop('', 'bare')
}, 180_000) // three builds
afterAll(async () => {
  for (const build of [shop, bare, root]) await build[Symbol.asyncDispose]()
})

describe('the mount', () => {
  test.for([
    ['/', "is made for the base path '/shop' and mounted at '/'"],
    ['/store', "mounted at '/store': mount it with app.use('/shop', …), or build it with basePath '/store'"],
    ['/:tenant', "mounted at '/:tenant'"],
    [['/shop', '/store'], "mounted at '/store'"],
  ] as const)('at %s is refused in one line', async ([path, message]) => {
    const app = await embedded(shop)
    const host = express()
    const mount = (): void => void host.use(path as string, app)
    if (path !== '/') return expect(mount).toThrow(message)
    // A router may still be mounted at the base path: the first request tells.
    mount()
    host.use(
      ((error, _req, res, _next) => void res.status(500).send(String(error.stack))) as express.ErrorRequestHandler,
    )
    const { text } = await request(host).get('/shop').expect(500)
    expect(text).toContain(message)
    expect(text.split('\n')).toHaveLength(1)
  })

  test('within a router is the whole path', async () => {
    const host = express()
    host.use('/a.b', express.Router().use('/c', await embedded(bare)))
    await request(host).get('/a.b/c/goods/1').expect(200)
    const other = express()
    other.use('/a.b', express().use('/c', await embedded(bare)))
    await request(other).get('/a.b/c/goods/1').expect(200)
  })

  test('of two applications at one path is refused in one line', async () => {
    const host = express().use('/shop', await embedded(shop))
    const second = await embedded(shop)
    expect(() => host.use('/shop', second)).toThrow(
      /^Two Millrace applications are mounted at '\/shop': give each a base path of its own$/,
    )
  })

  test('without a build, or with a wrong value, is refused in one line', async () => {
    await expect(millrace({ dist: '/nowhere/dist' })).rejects.toThrow(
      /^millrace\(\): there is no build in \/nowhere\/dist\. Make one: npm run build$/,
    )
    await expect(embedded(shop, { env: { LOG_LEVEL: 'loud' } })).rejects.toThrow(/^LOG_LEVEL: "loud" is refused/)
    await embedded(shop, { env: { PORT: 'nonsense', WORKERS: '-1' } })
  })
})

describe('two applications in one process', () => {
  test('share neither URLs nor cookies, with the same keys', async () => {
    const env = { SECRET_KEYS: 'a key of at least sixteen characters' }
    const host = express()
    host.use('/shop', await embedded(shop, { env }))
    host.use('/a.b/c', await embedded(bare, { env }))
    host.use(await embedded(root, { env }))
    const order = async (base: string) => {
      const { text } = await request(host).get(`${base}/order`).expect(200)
      const form = await submitForm(text, '#order', { goods: `of ${base}` })
      const answer = await request(host).post(form.url).set(form.headers).send(form.body).expect(200)
      return String(answer.headers['set-cookie']).split(';')[0] ?? ''
    }
    const cookies = [await order('/shop'), await order('/a.b/c'), await order('')]
    expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual([
      '__Host-shop~basket',
      '__Host-a.b~c~basket',
      '__Host-basket',
    ])
    const all = cookies.join('; ')
    await request(host)
      .get('/shop/order')
      .set('Cookie', all)
      .expect(200, /"goods">of \/shop</)
    await request(host)
      .get('/a.b/c/order')
      .set('Cookie', all)
      .expect(200, /"goods">of \/a\.b\/c</)
    await request(host)
      .get('/order')
      .set('Cookie', all)
      .expect(200, /"goods">of </)
    const stolen = `__Host-shop~basket=${cookies[1]?.split('=')[1]}`
    await request(host)
      .get('/shop/order')
      .set('Cookie', stolen)
      .expect(200, /"goods"><\/p>/)
  })

  test('add no listener to the process, but one together for promises that nothing handles', async () => {
    const events = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'exit'] as const
    const before = events.map((event) => process.listenerCount(event))
    await Promise.all([(await embedded(shop)).stop(), (await embedded(bare)).stop()])
    const listeners = process.listenerCount('unhandledRejection')
    const apps = [await embedded(shop), await embedded(bare)]
    expect(events.map((event) => process.listenerCount(event))).toEqual(before)
    expect(process.listenerCount('unhandledRejection')).toBeLessThanOrEqual(listeners + 1)
    await Promise.all(apps.map((app) => app.stop()))
  })
})

describe('the end of an embedded application', () => {
  test('waits for answers in progress, and refuses what comes after', async () => {
    const app = await embedded(shop)
    const answers: string[] = []
    const host = express().use((req, res, next) => {
      res.once('close', () => answers.push(req.originalUrl))
      next()
    })
    host.use('/shop', app)
    const { origin } = await listening(host)
    const late = await fetch(`${origin}/shop/late`)
    expect(answers).toEqual([])
    expect(await app.stop()).toBe(true)
    expect(answers).toEqual(['/shop/late'])
    expect(await late.text()).toContain('url=/shop/goods/7')
    await request(host).get('/shop').expect(503)
  })

  test('closes the server that it was given', async () => {
    const host = express()
    const { server, origin } = await listening(host)
    const [first, second] = [await embedded(shop, { server }), await embedded(bare, { server })]
    host.use('/shop', first).use('/a.b/c', second)
    await request(origin).get('/shop').expect(200)
    const closed = once(server, 'close')
    expect(await Promise.all([first.stop(), second.stop()])).toEqual([true, true])
    await closed
    expect(server.listening).toBe(false)
  })
})

describe('connections of the host', () => {
  test('are guarded with its server, once for all applications', async () => {
    const host = express()
    const { server, port } = await listening(host)
    const listeners = (): number => server.listenerCount('clientError') + server.listenerCount('checkContinue')
    host.use('/shop', await embedded(shop, { server }))
    expect(listeners()).toBe(2)
    host.use('/a.b/c', await embedded(bare, { server }))
    expect(listeners()).toBe(2)
    const answer = await requestRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n')
    expect([answer.status, answer.header('cache-control')]).toEqual([400, 'no-store'])
  })

  test('are not guarded without it, which the log says, and the process ends by itself', async () => {
    const handler = new URL('server/handler.js', shop.dist)
    const script = `const { embed } = await import(${JSON.stringify(handler.href)})
      await (await embed({ env: { DATA_DIR: ${JSON.stringify(shop.dataDir)}, WORKERS: '2' } })).stop()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
    const lines = stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ ignored: ['WORKERS'] }),
      expect.objectContaining({ off: ['WebSockets'] }),
      expect.objectContaining({ off: expect.arrayContaining(['orderly drain']) as unknown }),
      expect.objectContaining({ msg: 'shutting down' }),
      expect.objectContaining({ msg: 'stopped', orderly: true }),
    ])
  })
})

describe('a base path without a host', () => {
  test('is served by main.js, with health at the root', async () => {
    const server = await startBuiltServer({ entry: fileURLToPath(new URL('server/main.js', shop.dist)) })
    onTestFinished(async () => void (await server.stop()))
    expect(server.stdout.at(-1)).toBe(`Millrace is listening on http://localhost:${server.port}/shop`)
    const app = request(server.origin)
    await app.get('/healthz').expect(200)
    await app.get('/shop').expect(200, /<h1>Home<\/h1>/)
    await app.get('/shop/goods/1').expect(200, /"path">\/goods\/1</)
    await app.get('/shop/').expect(308).expect('Location', '/shop')
    await app.get('/shop/old/slashed/').expect(200, 'slashed /shop/old /slashed/ /shop/old/slashed/')
    await app.get('/shop/nothing').expect(404, /No such goods/)
    for (const path of ['/', '/goods/1', '/shopx', '/SHOP', '/%73hop', '/_m/build.json', '/sho', '/other//x']) {
      await app.get(path).expect(404, /The pages of this site begin with \/shop\./)
    }
    const send = async (path: string) => (await requestRaw(server.port, getRequest(path))).header('location')
    expect(await send('//shop/goods/1')).toBe('/shop/goods/1')
    expect(await send('/shop//goods/1')).toBe('/shop/goods/1')
    expect(await send('//evil.example/shop')).toBeUndefined()
  })

  test('is served by handler.js as the listener of another server', async () => {
    vi.stubEnv('DATA_DIR', shop.dataDir)
    vi.stubEnv('LOG_LEVEL', 'silent')
    const built = (await import(/* @vite-ignore */ new URL('server/handler.js', shop.dist).href)) as {
      readonly handler: RequestListener
      start(): Promise<void>
      stop(): Promise<boolean>
    }
    const { origin } = await listening(built.handler)
    await request(origin).get('/shop/goods/1').expect(200)
    await request(origin)
      .get('/shop/nothing')
      .expect(404, /No such goods/)
    await request(origin)
      .get('/nothing')
      .expect(404, /The pages of this site begin/)
    await built.start()
    expect(await built.stop()).toBe(true)
  })
})
