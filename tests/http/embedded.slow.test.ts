import express from 'express'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { submitForm } from 'millrace/testing'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import {
  buildShop,
  embedded,
  endOfHost,
  hostApp,
  hostSession,
  listening,
  passedOn,
  type ShopBuild,
} from '../support/shop-host.ts'

let shop: ShopBuild
let bare: ShopBuild

beforeAll(async () => {
  shop = await buildShop('/shop')
  bare = await buildShop('/a.b/c', 'bare')
})
afterAll(async () => {
  for (const build of [shop, bare]) await build[Symbol.asyncDispose]()
})

/** The host with the shop in it. */
async function hosted(env: Record<string, string> = {}) {
  const host = hostApp()
  host.use('/shop', await embedded(shop, { env }))
  endOfHost(host)
  return request(host)
}

describe('a built application in an Express server', () => {
  test('has its base path in every URL that leaves it', async () => {
    const host = await hosted()
    const { text, headers } = await host.get('/shop/goods/1').expect(200)
    const urls = [...text.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, url = '']) => url)
    expect(urls.filter((url) => !url.startsWith('/shop') && url !== 'data:,')).toEqual(['/host'])
    expect(text).toContain('<a href="/shop">/</a>')
    expect(text).toContain('<p data-testid="path">/goods/1</p>')
    expect(text).toMatch(/"tunnel":"\/shop\/_m\/reports\//)
    expect(headers['link']).not.toMatch(/<\/(?!shop\/_m\/assets\/)/)
    expect(headers['content-security-policy']).toMatch(/report-uri \/shop\/_m\/reports\//)
    const [style = ''] = /\/shop\/_m\/assets\/[\w.-]+\.css/.exec(text) ?? []
    const css = await host.get(style).expect(200)
    expect(css.text).toMatch(/url\("?\/shop\/_m\/assets\/stripes-/)
    const home = await host.get('/shop').expect(200)
    expect(home.text).toContain('rel="canonical" href="/shop"')
  })

  test.for([
    ['/shop/', 308, '/shop'],
    ['/shop/?a=1', 308, '/shop?a=1'],
    ['/shop/goods/1/', 308, '/shop/goods/1'],
    ['/shop//goods/1', 308, '/shop/goods/1'],
    ['/shop/moved/3', 308, '/shop/goods/3'],
    ['/shop/leave?to=/goods/1', 307, '/shop/goods/1'],
    ['/shop/leave?to=/', 307, '/shop'],
    ['/shop/goods/1?_action=x', 303, '/shop/goods/1'],
    ['/shop/old/away', 302, '/shop/old/slashed/'],
  ] as const)('redirects %s within the base path', async ([path, status, location]) => {
    const host = await hosted()
    await host.get(path).expect(status).expect('Location', location)
  })

  test.for(['//evil.example', '/\\evil.example', 'https://evil.example', '//evil.example/shop'])(
    'refuses a redirect to %s',
    async (to) => {
      const host = await hosted()
      const answer = await host.get(`/shop/leave?to=${encodeURIComponent(to)}`)
      expect(answer.status).toBe(500)
      expect(answer.headers).not.toHaveProperty('location')
    },
  )

  test('redirects after the shell within the base path', async () => {
    const host = await hosted()
    const { text } = await host.get('/shop/late').expect(200)
    expect(text).toContain('<meta http-equiv="refresh" content="0;url=/shop/goods/7"/>')
  })

  test('answers the URLs of the runtime, and has no health of its own', async () => {
    const host = await hosted()
    await host.get('/shop/_m/build.json').expect(200)
    await host
      .get('/shop/_m/assets/none.js')
      .expect(404)
      .expect('Content-Type', /text\/plain/)
    await host
      .get('/shop/_m/none')
      .expect(404)
      .expect('Content-Type', /text\/plain/)
    const { text } = await host.get('/shop/_m/data/leave?to=/goods/1').expect(200)
    expect(text).toContain('"redirect":{"to":"/goods/1"}')
    for (const path of ['/shop/healthz', '/shop/readyz']) await host.get(path).expect(404, passedOn(path))
  })

  test.for([
    '/shop/nothing',
    '/shop/nothing/',
    '/shop//nothing',
    '/shop/nothing?_action=theirs',
    '/shop/..',
    '/shop/../goods/1',
    '/shop/%2e%2e/goods/1',
    '/shopx',
    '/SHOP',
    '/Shop/goods/1',
    '//shop',
    '//shop/goods/1',
    '/%73hop/goods/1',
    '/goods/1',
    '/_m/build.json',
    '/shop%2fgoods/1',
  ])('leaves %s to the host', async (path) => {
    const host = hostApp()
    host.use('/shop', await embedded(shop))
    endOfHost(host)
    const { port } = await listening(host)
    const answer = await requestRaw(port, getRequest(path))
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([404, passedOn(path)])
  })

  test('tells a page that the data of an unknown path is a document', async () => {
    const host = await hosted()
    const { text } = await host.get('/shop/_m/data/nothing').expect(200)
    expect(text).toContain('"document":true')
  })

  test.for(['/shop/%zz', '/shop/%00'])('refuses %s itself', async (path) => {
    const host = await hosted()
    await host.get(path).expect(400)
  })

  test('sees the session of the host', async () => {
    const host = hostApp()
    host.use('/shop', await embedded(shop))
    const agent = request.agent(host)
    await agent.get('/shop').expect(200, /<p data-testid="visitor">nobody<\/p>/)
    await agent.post('/host/sign-in').type('form').send({ user: 'Ada' }).expect(303)
    const { headers } = await agent.get('/shop').expect(200, /<p data-testid="visitor">Ada<\/p>/)
    expect(headers['set-cookie']).toEqual([expect.stringMatching(/^sid=/)])
  })

  test('routers in its middleware have both spellings of a path, and their base', async () => {
    const host = await hosted()
    await host.get('/shop/old/slashed/').expect(200, 'slashed /shop/old /slashed/ /shop/old/slashed/')
    await host.get('/shop/old/').expect(200, 'list /shop/old / /shop/old/')
    await host.get('/shop/old/slashed').expect(404, passedOn('/shop/old/slashed'))
  })

  test('runs an action, whose cookie bears the base path and stands beside the host\u2019s', async () => {
    const host = await hosted()
    const page = await host.get('/shop/order').expect(200)
    const form = await submitForm(page.text, '#order', { goods: 'flour' })
    expect(form.url).toMatch(/^\/shop\/order\?_action=/)
    const answer = await host.post(form.url).set(form.headers).send(form.body).expect(200)
    expect(answer.text).toContain('ordered flour')
    const cookies = answer.headers['set-cookie'] as unknown as string[]
    expect(cookies).toEqual([
      expect.stringMatching(/^sid=/),
      expect.stringMatching(/^__Host-shop~basket=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    const cookie = cookies[1]?.split(';')[0] ?? ''
    await host
      .get('/shop/order')
      .set('Cookie', cookie)
      .expect(200, /<p data-testid="goods">flour<\/p>/)
    const left = await submitForm(page.text, '#leave')
    await host.post(left.url).set(left.headers).send(left.body).expect(303).expect('Location', '/shop/goods/9')
  })

  test('takes a form that express.urlencoded() has read', async () => {
    const host = hostApp()
    host.use('/shop', await embedded(shop))
    const { text } = await request(host).get('/shop/order')
    const { url, entries } = await submitForm(text, '#order', { goods: 'rye & oats' })
    const fields = new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))
    await request(host)
      .post(url)
      .type('form')
      .send(fields.toString())
      .expect(200, /ordered rye &amp; oats/)
  })

  test('uses what parsers in front have made of a form and of a call', async () => {
    const host = hostApp()
    host.use(express.json())
    host.use('/shop', await embedded(shop))
    const { text } = await request(host).get('/shop/order')
    const { url: action } = await submitForm(text, '#order')
    await request(host).post(action).type('form').send('goods[a]=1&goods[b]=2').expect(422)
    const id = /_action=([\w-]+)/.exec(action)?.[1]
    const call = request(host).post(`/shop/_m/data/order?_action=${id}`)
    await call.send({ args: [null], input: { goods: 'wheat', tags: [1, { a: null }] } }).expect(200, /"wheat"/)
  })

  test('refuses a multipart form that is gone, with a line that names the middleware', async () => {
    const host = hostApp()
    const multer: express.RequestHandler = (req, _res, next) =>
      void req.resume().once('end', () => next(Object.assign(req, { body: {}, files: [{}] }) && undefined))
    host.use(function multerMiddleware(req, res, next) {
      if (req.is('multipart')) multer(req, res, next)
      else next()
    })
    host.use('/shop', await embedded(shop))
    const { text } = await request(host).get('/shop/order')
    const form = await submitForm(text, '#order', { goods: 'oats' })
    const answer = await request(host).post(form.url).set(form.headers).send(form.body).expect(500)
    expect(answer.text).toContain(
      'The middleware multerMiddleware has read the body and not left its files: move it behind Millrace, or mount it ' +
        'only on its own paths',
    )
  })

  test('refuses a form of another site, whose URL it has the base path in', async () => {
    const host = await hosted()
    const { text } = await host.get('/shop/order')
    const { url: action } = await submitForm(text, '#order')
    await host.post(action).set('Sec-Fetch-Site', 'cross-site').type('form').send('goods=1').expect(403)
  })

  test('without middleware gives back what it does not know before anything else', async () => {
    const host = express().use(hostSession())
    host.use('/a.b/c', await embedded(bare, { env: { ORIGIN: 'https://shop.example' } }))
    endOfHost(host)
    await request(host).get('/a.b/c/nothing').expect(404, passedOn('/a.b/c/nothing'))
    await request(host).get('/aXb/c').expect(404, passedOn('/aXb/c'))
    await request(host)
      .get('/a.b/c')
      .expect(400, /Host is not in ORIGIN/)
    const { text } = await request(host).get('/a.b/c').set('Host', 'shop.example').expect(200)
    expect(text).toContain('href="/a.b/c/goods/1"')
  })
})
