import { createServer } from 'node:http'
import request from 'supertest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readConfig } from '../../src/server/config/config.ts'
import { warmUp } from '../../src/server/process/warm-up.ts'
import { listeningOn } from '../support/listening.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

test('a server says that it is starting until its first page could be rendered, and serves meanwhile', async () => {
  const database = { away: true }
  const loader = moduleOf({
    loader: () => {
      if (database.away) throw new Error('no database yet')
    },
  })
  const { app, logs } = tinyApp({
    routes: {
      '/': { ...fallbacks('root'), page: page(() => <p>home</p>), loader },
      '/other': { page: page(() => null) },
    },
  })
  await using server = await listeningOn(createServer(app))
  const ready = () => request(app).get('/readyz')

  expect((await ready()).text).toBe('starting\n')
  await warmUp(app, server.port, readConfig({ HOST: '127.0.0.1' }), app.log)
  const answer = await ready()
  expect([answer.status, answer.text, answer.headers['retry-after']]).toEqual([503, 'starting\n', '1'])
  expect(logs.find(({ msg }) => msg === 'the first page cannot be rendered yet')).toMatchObject({ status: 500 })
  await request(app).get('/healthz').expect(200)
  await request(app).get('/other').expect(200)

  database.away = false
  await expect.poll(async () => (await ready()).text, { timeout: 10_000 }).toBe('ready\n')
})

test.for([
  ['/', 'page'],
  ['/', 'loader'],
  ['/(site)', 'layout'],
  ['/other', 'page'],
  ['/other', 'loader'],
  ['/feed', 'handler'],
] as const)('a module that cannot be loaded, %s %s, makes its own routes fail and is logged', async ([key, member]) => {
  const broken = { [member]: () => Promise.reject(new Error('no such export')) }
  const { app, logs } = tinyApp({
    routes: {
      '/': { layout: page(({ children }: { children: React.ReactNode }) => <div>{children}</div>) },
      '/(site)': {},
      '/(site)/home': { page: page(() => <p>works</p>) },
      [key === '/' ? '/(home)' : key]: { ...(member !== 'handler' && { page: page(() => null) }), ...broken },
    } as Parameters<typeof tinyApp>[0]['routes'],
  })
  await using server = await listeningOn(createServer(app))
  await warmUp(app, server.port, readConfig({ HOST: '127.0.0.1' }), app.log)
  expect((await request(app).get('/readyz')).text).toBe('ready\n')
  const path = key === '/(site)' ? '/home' : key
  expect((await request(app).get(path)).status).toBe(500)
  if (key !== '/(site)') await request(app).get('/home').expect(200)
  expect(logs.find(({ msg }) => msg === 'a module of the table cannot be loaded')).toMatchObject({ member })
})

test.for(['layout', 'layoutLoader', 'guard'] as const)(
  'without the %s of the root no server is ready',
  async (member) => {
    const { app, logs } = tinyApp({
      routes: {
        '/': {
          layout: page(({ children }: { children: React.ReactNode }) => <div>{children}</div>),
          page: page(() => null),
          [member]: () => Promise.reject(new Error('no such export')),
        },
      },
    })
    await using server = await listeningOn(createServer(app))
    await warmUp(app, server.port, readConfig({ HOST: '127.0.0.1' }), app.log)
    app.readiness.markDraining()
    expect(logs.find(({ msg }) => msg === 'not ready yet')).toMatchObject({ err: { message: 'no such export' } })
  },
)

test('in development the server is ready at once, without modules and without the home page', async () => {
  vi.stubEnv('NODE_ENV', 'development')
  onTestFinished(() => void vi.unstubAllEnvs())
  const loader = moduleOf({
    loader: () => {
      throw new Error('the home page is being written')
    },
  })
  const load = vi.fn<() => Promise<{ default(): React.ReactNode }>>(async () => ({ default: () => <p>home</p> }))
  const { app, logs } = tinyApp({ routes: { '/': { ...fallbacks('root'), page: load, loader } } })
  await using server = await listeningOn(createServer(app))

  await warmUp(app, server.port, readConfig({ HOST: '127.0.0.1' }), app.log)
  expect(load).not.toHaveBeenCalled()
  expect((await request(app).get('/readyz')).text).toBe('ready\n')
  expect(logs.filter(({ level }) => Number(level) >= 40)).toEqual([])
})
