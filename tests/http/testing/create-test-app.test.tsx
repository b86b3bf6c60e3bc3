import { existsSync } from 'node:fs'
import { pino } from 'pino'
import { useActionState } from 'react'
import request from 'supertest'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { action, defineSession, openDatabase } from 'millrace/server'
import { createTestApp, createVisitor, fakeClock, submitForm, type TestDefinition } from 'millrace/testing'
import { createApp } from '../../../src/server/app.ts'
import { PlainDocument } from '../../../src/testing/plain-document.ts'

const page = (component: () => unknown) => () => Promise.resolve({ default: component as never })

/** A guestbook whose actions nobody lists. */
function guestbook() {
  const entries: string[] = []
  const save = action({
    input: z.object({ name: z.string().min(1, 'is missing') }),
    handler: ({ input }) => {
      entries.push(input.name)
      return input.name
    },
  })
  const remove = action({
    args: z.tuple([z.string()]),
    handler: ({ args: [name] }) => void entries.splice(entries.indexOf(name), 1),
  })
  function Page() {
    const [state, send] = useActionState(save, null)
    return (
      <main>
        <p id="state">{JSON.stringify(state)}</p>
        <form id="sign" action={send}>
          <input name="name" />
        </form>
        {entries.map((name) => (
          <form key={name} id={`remove-${name}`} action={remove.bind(null, name)}>
            {`Entry: ${name}`}
          </form>
        ))}
      </main>
    )
  }
  return { entries, routes: { '/': { page: page(Page) } } }
}

test('actions are found when a page renders them, for supertest', async () => {
  const { entries, routes } = guestbook()
  await using app = createTestApp({ routes })
  const { text } = await request(app).get('/').expect(200)
  const form = await submitForm(text, '#sign', { name: 'Ada' })
  const answer = await request(app).post(form.url).set(form.headers).send(form.body)
  expect(answer.status).toBe(200)
  expect(answer.text).toContain('Entry: Ada')
  expect(entries).toEqual(['Ada'])
})

test('and for fetch, invalid input and bound arguments included', async () => {
  const { entries, routes } = guestbook()
  await using app = createTestApp({ routes })
  const origin = await app.origin()
  const form = await submitForm(await (await fetch(origin)).text(), '#sign')
  const refused = await fetch(new URL(form.url, origin), form)
  expect(refused.status).toBe(422)

  const visitor = app.visitor()
  const signed = await (await visitor.get('/')).submit('#sign', { name: 'Ada' })
  expect(signed.text('#state')).toBe('"Ada"')
  expect(signed.all('form').map(({ text }) => text)).toEqual(['', 'Entry: Ada'])
  const removed = await signed.submit('#remove-Ada')
  expect(removed.find('#remove-Ada')).toBeUndefined()
  expect(entries).toEqual([])
})

test('a form of one app may be sent to the next, as after a restart', async () => {
  const { entries, routes } = guestbook()
  const environment = { SECRET_KEYS: 'a key of sixteen characters' }
  await using first = createTestApp({ routes }, { environment })
  const { text } = await request(first).get('/')
  await first.stop()
  await using second = createTestApp({ routes }, { environment })
  const { url, headers, body } = await submitForm(text, '#sign', { name: 'Ada' })
  await request(second).post(url).set(headers).send(body).expect(200)
  expect(entries).toEqual(['Ada'])
})

test('a server without the kit renders no form of such an action, and says what to do', async () => {
  const complaints = vi.spyOn(console, 'error').mockReturnValue()
  const app = createApp({ app: { ...guestbook(), document: PlainDocument }, log: pino({ level: 'silent' }) })
  const { text } = await request(app).get('/')
  expect(text).not.toContain('_action=')
  expect(complaints.mock.calls.map(String).join()).toContain('createTestApp of millrace/testing needs no list')
})

describe('the life of an app', () => {
  /** Records what happens in which order. */
  function living(extra: Partial<TestDefinition> = {}) {
    const steps: string[] = []
    const definition: TestDefinition = {
      routes: {
        '/': {
          page: page(() => {
            steps.push('page')
            return 'home'
          }),
        },
      },
      async start({ signal }) {
        steps.push('start')
        await new Promise((resolve) => setImmediate(resolve))
        steps.push('started')
        return () => void steps.push(`stop, ${signal.aborted ? 'after the signal' : 'without a signal'}`)
      },
      ...extra,
    }
    return { steps, definition }
  }

  test('the first request waits for start, and stop ends what it has returned', async () => {
    const { steps, definition } = living()
    {
      await using app = createTestApp(definition)
      await Promise.all([request(app).get('/').expect(200), request(app).get('/').expect(200)])
      await app.start()
    }
    expect(steps).toEqual(['start', 'started', 'page', 'page', 'stop, after the signal'])
  })

  test('a start that fails is told to the test and to each request', async () => {
    const { definition } = living({ start: () => Promise.reject(new Error('no database')) })
    await using app = createTestApp(definition)
    await expect(app.start()).rejects.toThrow('no database')
    await expect(app.origin()).rejects.toThrow('no database')
    const { status, text } = await request(app).get('/')
    expect([status, text]).toEqual([500, 'The application could not be started: Error: no database\n'])
  })

  test('a stop that fails fails the test', async () => {
    const { definition } = living({
      start: () => () => {
        throw new Error('still busy')
      },
    })
    const app = createTestApp(definition)
    await app.start()
    await expect(app.stop()).rejects.toThrow('stop has failed')
    expect(JSON.stringify(app.logs)).toContain('still busy')
  })

  test('an endless answer does not hold stop back', async () => {
    await using app = createTestApp({
      routes: {
        '/': {
          handler: () =>
            Promise.resolve({
              GET: () => new Response(new ReadableStream({ start: (endless) => endless.enqueue('x') })),
            }),
        },
      },
    })
    const answer = await app.visitor().fetch('/')
    expect(answer.status).toBe(200)
    await app.stop()
    await expect(answer.text()).rejects.toThrow('terminated')
  })
})

test('its data is in a temporary folder that stop removes, and a named one is kept', async () => {
  const routes = {
    '/': {
      handler: () =>
        Promise.resolve({
          GET({ context }: { context: { dataDir: string } }) {
            const database = openDatabase({
              path: `${context.dataDir}/notes.db`,
              migrations: ['CREATE TABLE notes (text)'],
            })
            database.statement('SELECT * FROM notes').all()
            database.dispose()
            return new Response(context.dataDir)
          },
        }),
    },
  }
  const app = createTestApp({ routes })
  expect(existsSync(app.dataDir)).toBe(false)
  const { text } = await request(app).get('/')
  expect(text).toBe(app.dataDir)
  expect(existsSync(app.dataDir)).toBe(true)
  await app.stop()
  expect(existsSync(app.dataDir)).toBe(false)
})

test('its log can be read, and its environment is what the test says', async () => {
  await using app = createTestApp(guestbook(), { environment: { ORIGIN: 'https://example.com' } })
  await request(app).get('/none?a=1').set('Host', 'example.com').expect(404)
  expect(app.logs).toContainEqual(expect.objectContaining({ method: 'GET', status: 404 }))
  expect(() => createTestApp(guestbook(), { environment: { PORT: 'x' } })).toThrow('PORT')
})

describe('a fake clock', () => {
  test('ends sessions, at the server and in the jar', async () => {
    const session = defineSession({ schema: z.object({ user: z.string() }), maxAgeSeconds: 60 })
    const clock = fakeClock()
    const handler = (GET: (args: { context: never }) => Promise<Response>) => () => Promise.resolve({ GET })
    const routes = {
      '/in': {
        handler: handler(
          async ({ context }) => (await (await session.open(context)).set({ user: 'ann' }), new Response('in')),
        ),
      },
      '/me': {
        handler: handler(async ({ context }) => new Response((await session.open(context)).data?.user ?? 'nobody')),
      },
    }
    await using app = createTestApp({ routes }, { clock })
    const visitor = app.visitor()
    expect((await visitor.get('/in')).setCookies[0]).toMatch(/^__Host-session=.*Secure/)
    const { Cookie = '' } = visitor.jar.headers()
    expect((await visitor.get('/me')).html).toBe('ann')
    clock.advance(59_000)
    expect((await visitor.get('/me')).html).toBe('ann')
    clock.advance(2_000)
    expect(visitor.jar.headers()).toEqual({})
    // A browser that keeps it longer gains nothing.
    expect((await request(app).get('/me').set('Cookie', Cookie)).text).toBe('nobody')
    clock.advance(-0)
    expect(() => clock.advance(-1)).toThrow(RangeError)
    expect(() => clock.set(Number.NaN)).toThrow(RangeError)
  })

  test('ages cached values, limits and idempotency keys', async () => {
    const clock = fakeClock(new Date('2030-01-01'))
    const counted = { reads: 0, runs: 0 }
    const once = action({ handler: () => void (counted.runs += 1) })
    type Context = {
      context: { cached(...args: unknown[]): Promise<number>; limit(...args: unknown[]): Promise<{ ok: boolean }> }
    }
    const routes = {
      '/cached': {
        handler: () =>
          Promise.resolve({
            GET: async ({ context }: Context) =>
              new Response(String(await context.cached('reads', { seconds: 60 }, () => (counted.reads += 1)))),
          }),
      },
      '/limited': {
        handler: () =>
          Promise.resolve({
            GET: async ({ context }: Context) =>
              new Response(JSON.stringify(await context.limit('once', { points: 1, seconds: 60 }))),
          }),
      },
      '/form': { page: page(() => <form action={once as never} />) },
    }
    await using app = createTestApp({ routes }, { clock })
    const texts = async (path: string) => (await request(app).get(path)).text
    expect([await texts('/cached'), await texts('/cached')]).toEqual(['1', '1'])
    const [first, second] = [await texts('/limited'), await texts('/limited')]
    expect(first).not.toBe(second)

    const { url, headers, body } = await submitForm(await texts('/form'), 'form')
    const send = () => request(app).post(url).set(headers).send(body).expect(303)
    await send()
    await send()
    expect(counted.runs).toBe(1)

    clock.advance(24 * 3_600_000 + 61_000)
    expect(await texts('/cached')).toBe('2')
    expect(await texts('/limited')).toBe(first)
    await send()
    expect(counted.runs).toBe(2)
  })
})

describe('a visitor', () => {
  const cookies = (...lines: string[]) => {
    const headers = new Headers()
    for (const line of lines) headers.append('Set-Cookie', line)
    return headers
  }
  const answers: Record<string, () => Response> = {
    set: () =>
      new Response('set', {
        headers: cookies('a=1; Path=/', '__Host-b=2; Secure; Path=/; HttpOnly', 'c=3; Path=/deep'),
      }),
    unset: () => new Response('unset', { headers: cookies('a=; Max-Age=0; Path=/') }),
    bad: () => new Response('bad', { headers: cookies('__Host-x=1; Path=/') }),
    loop: () => Response.redirect('http://site.test/loop'),
    away: () => Response.redirect('https://elsewhere.test/'),
    near: () => new Response(null, { status: 302, headers: { Location: '/echo?x=1' } }),
  }
  const routes = {
    ...Object.fromEntries(
      Object.entries(answers).map(([name, GET]) => [`/${name}`, { handler: () => Promise.resolve({ GET }) }]),
    ),
    '/loop': {
      handler: () =>
        Promise.resolve({ GET: () => new Response(null, { status: 302, headers: { Location: '/loop' } }) }),
    },
    '/echo': {
      handler: () =>
        Promise.resolve({
          GET: ({ request: asked }: { request: Request }) =>
            new Response(`${asked.headers.get('cookie')} ${asked.url}`),
        }),
    },
    '/links': { page: page(() => <a href="/near">on</a>) },
  }

  test('keeps cookies, __Host- ones over plain HTTP too, and sends them where they belong', async () => {
    await using app = createTestApp({ routes })
    const visitor = app.visitor()
    await visitor.get('/set')
    expect((await visitor.get('/echo')).html).toMatch(/^a=1; __Host-b=2 /)
    expect(visitor.jar.headers('/deep/er')).toEqual({ Cookie: 'c=3; a=1; __Host-b=2' })
    expect(visitor.jar.headers('/deeper')).toEqual({ Cookie: 'a=1; __Host-b=2' })
    await visitor.get('/unset')
    expect(visitor.jar.get('a')).toBeUndefined()
    // The same jar with supertest.
    expect((await request(app).get('/echo').set(visitor.jar.headers())).text).toMatch(/^__Host-b=2 /)
    visitor.jar.keep(await request(app).get('/set'))
    expect(visitor.jar.get('a')).toBe('1')
    visitor.jar.clear()
    expect((await visitor.get('/echo')).html).toMatch(/^null /)
  })

  test('is told of a cookie that browsers drop', async () => {
    await using app = createTestApp({ routes })
    await expect(app.visitor().get('/bad')).rejects.toThrow('Browsers drop the cookie "__Host-x": __Host- needs Secure')
  })

  test('follows redirects and links within the site', async () => {
    await using app = createTestApp({ routes })
    const visitor = createVisitor(await app.origin(), { headers: { 'User-Agent': 'a test' } })
    const page = await (await visitor.get('/links')).follow('a')
    expect(page.url).toBe('/echo?x=1')
    expect((await visitor.get('/away')).status).toBe(302)
    await expect(visitor.get('/loop')).rejects.toThrow('more than 20 redirects')
    await expect((await visitor.get('/links')).follow('b')).rejects.toThrow('not a link of this site')
  })
})
