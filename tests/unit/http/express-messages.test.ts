import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { messageClassesOf } from '../../../src/server/http/express-messages.ts'
import { listeningOn } from '../../support/listening.ts'

/** Serves an application as `main.ts` does. */
async function serve(app: Express) {
  const made: { prototype?: object } = {}
  const server = createServer(messageClassesOf(app), (req, res) => {
    made.prototype = Object.getPrototypeOf(req) as object
    app(req as Request, res as Response)
  })
  const listening = await listeningOn(server)
  return Object.assign(listening, { made, url: `http://127.0.0.1:${listening.port}` })
}

const describeItself: RequestHandler = (req, res) => {
  res.set('X-Same-App', String(req.app === res.app))
  res.json({ host: req.get('host'), path: req.path, mounted: req.baseUrl })
}

test('middleware meets a request and a response of Express, which Express has not had to make over', async () => {
  const app = express()
  const seen: { prototype?: object } = {}
  app.use((req, _res, next) => {
    seen.prototype = Object.getPrototypeOf(req) as object
    next()
  })
  app.use(describeItself)
  await using server = await serve(app)
  const answer = await fetch(`${server.url}/mills?of=grain`)
  expect(await answer.json()).toEqual({ host: new URL(server.url).host, path: '/mills', mounted: '' })
  expect(answer.headers.get('x-same-app')).toBe('true')
  expect(seen.prototype).toBe(server.made.prototype)
  expect(seen.prototype).toBe(app.request)
})

test('an application of Express that is mounted in another one meets requests of its own', async () => {
  const app = express()
  const mounted = express()
  const apps: unknown[] = []
  const note: RequestHandler = (req, _res, next) => {
    apps.push(req.app)
    next()
  }
  mounted.use(note, describeItself)
  app.use(note)
  app.use('/mounted', mounted)
  await using server = await serve(app)
  const answer = await fetch(`${server.url}/mounted/inner`)
  expect(await answer.json()).toMatchObject({ path: '/inner', mounted: '/mounted' })
  expect(apps).toEqual([app, mounted])
})
