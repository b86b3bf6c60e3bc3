/** Which errors of middleware are the client's fault: those that say so, and not those that merely carry a status. */
import express, { Router, type RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { page, tinyApp } from '../support/tiny-app.tsx'

function appWith(...middleware: readonly RequestHandler[]) {
  return tinyApp({ routes: { '/': { page: page(() => 'home') } }, middleware })
}
const throws =
  (error: unknown): RequestHandler =>
  () => {
    throw error
  }
const failures = (logs: readonly Record<string, unknown>[]): number =>
  logs.filter(({ msg }) => msg === 'uncaught failure').length

describe('an error with a status is a failure of this server, and is told,', () => {
  test.for([
    ['of another service that has answered with it', Object.assign(new Error('Not Found'), { status: 404 })],
    ['where it is exposed and no status of a client', Object.assign(new Error('odd'), { status: 400.5, expose: true })],
    ['where it is a redirect', Object.assign(new Error('moved'), { status: 302, expose: true })],
    ['where no error was thrown', { status: 404, expose: true }],
    ['of another kind, with the status of Express’s own', Object.assign(new URIError('x'), { status: 404 })],
  ] as const)('%s', async ([, error]) => {
    const { app, logs } = appWith(throws(error))
    await request(app).get('/').expect(500)
    expect(failures(logs)).toBe(1)
  })
})

describe('the client’s fault is', () => {
  test('a body that a parser refuses, by its size, its text or its coding', async () => {
    const { app, logs } = appWith(express.json({ limit: 10 }))
    const send = (body: string): request.Test => request(app).post('/').type('json').send(body)
    await send('{"a":"too long for it"}').expect(413)
    await send('{').expect(400)
    await send('1').set('Content-Encoding', 'unheard-of').expect(415)
    expect(failures(logs)).toBe(0)
  })

  test('a param that Express cannot decode', async () => {
    const router = Router().get('/other/:id', (_req, res) => void res.send('found'))
    // The runtime refuses such a path before any middleware: here one of them rewrites it.
    const rewrite: RequestHandler = (req, _res, next) => {
      req.url = '/other/%E0%A4%A'
      next()
    }
    const { app, logs } = appWith(rewrite, router)
    await request(app).get('/').expect(400)
    expect(failures(logs)).toBe(0)
  })

  test('a file that is not there, of which Express says nothing to the client', async () => {
    const { app, logs } = appWith(express.static('/nowhere', { fallthrough: false }))
    await request(app).get('/file.txt').expect(404)
    expect(failures(logs)).toBe(0)
  })
})
