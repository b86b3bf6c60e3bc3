/** What authors are promised of `eventStream`: events, heartbeats, bounds, and an end that is told. */
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AppDefinition, AppStart } from '../../src/server/api/define-app.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import type { DropsMessage } from '../../src/shared/protocol/drops-event.ts'
import {
  eventStream,
  type EventStream,
  type EventStreamOptions,
  type StartEvents,
} from '../../src/server/api/event-stream.ts'
import { portOf } from '../support/listening.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

interface StreamApp {
  readonly options?: EventStreamOptions | ((url: URL) => EventStreamOptions)
  readonly start?: StartEvents
  readonly environment?: Readonly<Record<string, string>>
  readonly job?: AppDefinition['start']
}

/** A server with one event stream, and a resource that drops what is asked of it. */
async function streamApp({ options, start, environment = {}, job }: StreamApp = {}) {
  const opened: EventStream[] = []
  let ended = 0
  const { app, logs } = tinyApp({
    routes: {
      '/events': {
        handler: moduleOf({
          GET: ({ request }: LoaderArgs<'/events'>) =>
            eventStream(
              (stream) => {
                opened.push(stream)
                return start === undefined ? () => void (ended += 1) : start(stream)
              },
              typeof options === 'function' ? options(new URL(request.url)) : options,
            ),
        }),
      },
      '/drop': {
        handler: moduleOf({
          async POST({ request: asked, context }: LoaderArgs<'/drop'>) {
            await context.revalidate(...((await asked.json()) as string[]))
            return new Response(null, { status: 204 })
          },
        }),
      },
      '/plain': { handler: moduleOf({ GET: () => new Response('plain') }) },
    } as never,
    environment,
    ...(job === undefined ? {} : { start: job }),
  })
  const port = await portOf(app)
  const origin = `http://127.0.0.1:${port}`
  async function listen(headers: Readonly<Record<string, string>> = {}, query = '') {
    const controller = new AbortController()
    const answer = await fetch(`${origin}/events${query}`, { headers, signal: controller.signal })
    const reader = answer.body?.pipeThrough(new TextDecoderStream() as never).getReader() as
      ReadableStreamDefaultReader<string> | undefined
    let text = ''
    const withoutDrops = (): string => text.replaceAll(/event: millrace:drops\n.*\n\n/g, '')
    return {
      answer,
      leave: () => controller.abort(),
      /** What the runtime tells browsers, once that many messages have arrived. */
      async drops(count: number): Promise<readonly DropsMessage[]> {
        for (;;) {
          const messages = [...text.matchAll(/^event: millrace:drops\ndata: (.*)\n\n/gm)]
          if (messages.length >= count) return messages.map(([, data]) => JSON.parse(data ?? '') as DropsMessage)
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
          if (done) throw new Error(`The stream has ended: ${JSON.stringify(text)}`)
          text += value
        }
      },
      /** Everything of the application so far, once it holds this. */
      async until(part: string): Promise<string> {
        while (!withoutDrops().includes(part)) {
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
          if (done) throw new Error(`The stream has ended without ${JSON.stringify(part)}: ${JSON.stringify(text)}`)
          text += value
        }
        return withoutDrops()
      },
      async rest(): Promise<string> {
        for (;;) {
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
          if (done) return withoutDrops()
          text += value
        }
      },
    }
  }
  return { app, logs, origin, port, opened, listen, ended: () => ended }
}

test('events arrive as they are sent, with names and ids, and no compression holds them back', async () => {
  const { opened, listen } = await streamApp()
  const { answer, until } = await listen({ 'Accept-Encoding': 'gzip, br' })
  expect(answer.status).toBe(200)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  })
  expect(answer.headers.get('content-encoding')).toBeNull()
  expect(opened[0]?.send({ data: { text: 'one\ntwo' } })).toBe(true)
  expect(await until('two')).toBe('data: {"text":"one\\ntwo"}\n\n')
  opened[0]?.send({ event: 'changed', id: '7', data: undefined })
  expect(await until('changed')).toContain('id: 7\nevent: changed\ndata: null\n\n')
})

test('HEAD opens no stream', async () => {
  const { origin, opened } = await streamApp()
  const answer = await fetch(`${origin}/events`, { method: 'HEAD' })
  expect([answer.status, answer.headers.get('content-type'), opened.length]).toEqual([200, 'text/event-stream', 0])
})

test('a silent stream gets comments, and one with events does not need them', async () => {
  const { listen } = await streamApp({ options: { heartbeatSeconds: 0.01 } })
  const { until } = await listen()
  expect(await until(':\n\n:\n\n')).toMatch(/^(?::\n\n)+$/)
})

test('a reader that leaves ends the work for it, once', async () => {
  const { listen, opened, ended } = await streamApp()
  const { leave, until } = await listen()
  opened[0]?.send({ data: 1 })
  await until('1')
  leave()
  await expect.poll(ended).toBe(1)
  expect([opened[0]?.signal.aborted, opened[0]?.send({ data: 2 })]).toEqual([true, false])
  opened[0]?.end()
  expect(ended()).toBe(1)
})

test('a reader that leaves while the stream is still being prepared leaves nothing behind', async () => {
  const { promise, resolve } = Promise.withResolvers<() => void>()
  let undone = 0
  const { listen, opened } = await streamApp({ start: () => promise })
  const { leave } = await listen()
  leave()
  await expect.poll(() => opened[0]?.signal.aborted).toBe(true)
  resolve(() => void (undone += 1))
  await expect.poll(() => undone).toBe(1)
})

test.for(['end', 'drain'] as const)('by %s a stream ends with the time after which to return', async (way) => {
  const { app, listen, opened, ended } = await streamApp()
  const { rest } = await listen()
  if (way === 'end') opened[0]?.end()
  else app.readiness.markDraining()
  const retry = Number(/^retry: (\d+)\n\n$/.exec(await rest())?.[1])
  expect(retry).toBeGreaterThanOrEqual(1_000)
  expect(retry).toBeLessThanOrEqual(5_000)
  expect(ended()).toBe(1)
})

test('a failure ends the stream, and is logged with its digest', async () => {
  const { listen, logs } = await streamApp({
    start: () => {
      throw new Error('no database')
    },
  })
  expect(await (await listen()).rest()).toBe('retry: 10000\n\n')
  expect(JSON.stringify(logs.filter(({ digest }) => digest !== undefined))).toContain('no database')
})

describe('the id of the last event', () => {
  test.for([
    [{ 'Last-Event-ID': '41' }, '', '41'],
    [{}, '?lastEventId=42', '42'],
    [{ 'Last-Event-ID': '41' }, '?lastEventId=42', '41'],
    [{}, '', undefined],
    [{ 'Last-Event-ID': 'x'.repeat(257) }, '', undefined],
    [{ 'Last-Event-ID': 'caf\u00e9' }, '', undefined],
    [{}, '?lastEventId=a%0Adata:%20forged', undefined],
    [{}, '?lastEventId=%00', undefined],
  ] as const)('of %.60j and %.40s is %j', async ([headers, query, id]) => {
    const { listen, opened } = await streamApp()
    await listen(headers, query)
    expect(opened[0]?.lastEventId).toBe(id)
  })
})

test('an event that cannot be sent is left out and reported, and its sender gets no throw', async () => {
  const { listen, logs, opened } = await streamApp()
  const { until } = await listen()
  const refused = [
    { data: 1, event: 'a\nb' },
    { data: 1, event: '' },
    { data: 1, event: 'x'.repeat(101) },
    { data: 1, event: 'millrace:drops' },
    { data: 1, id: '' },
    { data: 1, id: 'a\nb' },
    { data: 1, id: '\u00e9' },
    { data: 1n },
    { data: 'x'.repeat(65_536) },
    null as never, // what JavaScript may pass
  ]
  for (const event of refused) expect(opened[0]?.send(event)).toBe(true)
  opened[0]?.send({ data: 'fine' })
  expect(await until('fine')).toBe('data: "fine"\n\n')
  const failures = JSON.stringify(logs.filter(({ digest }) => digest !== undefined))
  for (const part of ['the name of an event', 'the id of an event', 'BigInt', 'bufferBytes 65536']) {
    expect(failures).toContain(part)
  }
})

test('what fails after the end is reported, also by a promise that nobody awaits', async () => {
  const stops = [
    () => {
      throw new Error('stopped at once')
    },
    () => Promise.reject(new Error('stopped later')),
  ]
  for (const stop of stops) {
    const { listen, logs } = await streamApp({ start: () => stop })
    const { leave } = await listen()
    leave()
    await expect.poll(() => JSON.stringify(logs.filter(({ digest }) => digest !== undefined))).toContain('stopped')
  }
})

test('a reader that sleeps is disconnected before its events fill the memory', async () => {
  const { port, opened, ended, logs } = await streamApp({ options: { bufferBytes: 100_000 } })
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.on('error', () => undefined)
  socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await expect.poll(() => opened.length).toBe(1)
  let sent = 0
  // The system buffers some megabytes for the connection first.
  while (opened[0]?.send({ data: 'x'.repeat(50_000) }) === true) {
    sent += 1
    if (sent > 2_000) throw new Error('the stream never ends')
    await new Promise(setImmediate)
  }
  expect(ended()).toBe(1)
  await expect.poll(() => JSON.stringify(logs)).toContain('its reader does not keep up')
})

describe('streams of one client', () => {
  test('are bounded, leave room for other requests, and give their places back', async () => {
    const { origin, listen, opened } = await streamApp({ environment: { MAX_OPEN_STREAMS: '8' } })
    const streams = []
    for (;;) {
      const stream = await listen({ Accept: 'application/json' })
      if (stream.answer.status !== 200) {
        expect([stream.answer.status, stream.answer.headers.get('retry-after')]).toEqual([503, '5'])
        break
      }
      streams.push(stream)
      expect(streams.length).toBeLessThan(4)
    }
    expect((await fetch(`${origin}/plain`)).status).toBe(200)
    streams[0]?.leave()
    await expect.poll(() => opened[0]?.signal.aborted).toBe(true)
    await expect.poll(async () => (await listen()).answer.status).toBe(200)
  })
})

describe('a stream that names targets of revalidate', () => {
  const options = { revalidate: ['guestbook', '/mills/7', '/notes/*'] }

  test.for([
    [['guestbook'], ['guestbook']],
    [['/mills/*'], ['/mills/7']],
    [['/mills/7/'], ['/mills/7']],
    [['/notes/1'], ['/notes/*']],
    [['/*'], ['/mills/7', '/notes/*']],
    [['secret of others', 'guestbook'], ['guestbook']],
  ] as const)('tells browsers of %j as %j', async ([dropped, told]) => {
    const { origin, listen } = await streamApp({ options })
    const { until } = await listen()
    const body = JSON.stringify(dropped)
    await fetch(`${origin}/drop`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
    expect(await until('\n\n')).toBe(`event: revalidate\ndata: ${JSON.stringify(told)}\n\n`)
  })

  test('tells browsers what a job drops', async () => {
    let job: AppStart | undefined
    const { app, listen } = await streamApp({ options, job: (server) => void (job = server) })
    await app.life.start()
    const { until } = await listen()
    await job?.revalidate('guestbook')
    expect(await until('\n\n')).toBe('event: revalidate\ndata: ["guestbook"]\n\n')
  })

  test('ends where the names are more than it may hold, and the visitor whose request drops them is served', async () => {
    const { logs, listen, origin } = await streamApp({ options: { ...options, bufferBytes: 40 } })
    const [one, other] = [await listen(), await listen()]
    const body = JSON.stringify(['guestbook', '/mills/7'])
    const headers = { 'Content-Type': 'application/json' }
    expect((await fetch(`${origin}/drop`, { method: 'POST', body, headers })).status).toBe(204)
    for (const { rest } of [one, other]) expect(await rest()).toBe('retry: 10000\n\n')
    expect(JSON.stringify(logs)).toContain('bufferBytes 40')
  })

  const post = (origin: string, targets: readonly string[]): Promise<Response> =>
    fetch(`${origin}/drop`, {
      method: 'POST',
      body: JSON.stringify(targets),
      headers: { 'Content-Type': 'application/json' },
    })

  test('begins with the last drop of each, so that what was missed is known', async () => {
    const { origin, listen } = await streamApp({ options })
    const [before] = await (await listen()).drops(1)
    const started = before?.targets['guestbook'] ?? 0
    expect(before).toEqual({ targets: { '/mills/7': started, '/notes/*': started, guestbook: started }, spread: 0 })
    await post(origin, ['guestbook', '/notes/1', 'other'])
    const [after] = await (await listen()).drops(1)
    const { '/mills/7': mills, '/notes/*': notes = 0, guestbook = 0 } = after?.targets ?? {}
    expect([mills, notes > started, guestbook]).toEqual([started, true, notes])
    await post(origin, ['/mills/*'])
    const [last] = await (await listen()).drops(1)
    expect([(last?.targets['/mills/7'] ?? 0) > notes, last?.targets['guestbook']]).toEqual([true, guestbook])
  })

  test('tells several drops of one moment once', async () => {
    const { origin, listen } = await streamApp({ options })
    const one = await listen()
    await one.drops(1)
    await Promise.all(Array.from({ length: 24 }, () => post(origin, ['guestbook'])))
    await post(origin, ['/mills/7'])
    await one.until('/mills/7')
    expect((await one.until('/mills/7')).split('event: revalidate').length - 1).toBeLessThan(6)
  })

  test('lets browsers spread what they ask, by the number of streams that name the same', async () => {
    const { origin, listen } = await streamApp({ options })
    const streams = await Promise.all(Array.from({ length: 50 }, () => listen()))
    await post(origin, ['guestbook'])
    const told = await Promise.all(streams.map(({ drops }) => drops(2)))
    expect(new Set(told.map(([, drop]) => drop?.spread))).toEqual(new Set([800]))
    for (const { leave } of streams.slice(8)) leave()
    await expect
      .poll(async () => {
        await post(origin, ['guestbook'])
        return (await streams[0]?.drops(3))?.at(-1)?.spread
      })
      .toBe(0)
  })

  test('lets one client with many streams delay others by a second at most', async () => {
    const { origin, listen } = await streamApp({ options, environment: { TRUST_PROXY: '127.0.0.1' } })
    const greedy = await Promise.all(Array.from({ length: 100 }, () => listen({ 'X-Forwarded-For': '192.0.2.1' })))
    const other = await listen({ 'X-Forwarded-For': '192.0.2.2' })
    await post(origin, ['guestbook'])
    expect((await other.drops(2)).map(({ spread }) => spread)).toEqual([1_040, 1_040])
    const own = await Promise.all(greedy.map(({ drops }) => drops(2)))
    expect(new Set(own.map(([, drop]) => drop?.spread))).toEqual(new Set([1_616]))
  })

  test('counts all streams that one drop concerns, whatever they name', async () => {
    const { origin, listen } = await streamApp({
      options: ({ search }) => ({ revalidate: [`/mills/${search.slice(1)}`] }),
    })
    const streams = await Promise.all(Array.from({ length: 50 }, (_, n) => listen({}, `?${n}`)))
    await Promise.all(streams.map(({ drops }) => drops(1)))
    await post(origin, ['/mills/*'])
    const told = await Promise.all(streams.map(({ drops }) => drops(2)))
    expect(new Set(told.map(([, drop]) => drop?.spread))).toEqual(new Set([800]))
  })

  test('tells nothing of other targets', async () => {
    const { origin, listen, opened } = await streamApp({ options })
    const { until } = await listen()
    const body = JSON.stringify(['secret of others', '/mills/8', '/notesbook'])
    await fetch(`${origin}/drop`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
    opened[0]?.send({ data: 'after' })
    expect(await until('after')).toBe('data: "after"\n\n')
  })
})

const HUNDRED = Array.from({ length: 100 }, (_, at) => `mill:${at}`)

test.for([
  { heartbeatSeconds: 0 },
  { heartbeatSeconds: 3_601 },
  { bufferBytes: 0 },
  { bufferBytes: Infinity },
  { revalidate: [...HUNDRED, 'one more'] },
])('set %# of options out of range is the mistake of the handler', (options) => {
  expect(() => eventStream(() => undefined, options)).toThrow(RangeError)
  expect(() => eventStream(() => undefined, { revalidate: HUNDRED })).not.toThrow()
})
