import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openBodySource, type BodySource } from '../../../src/server/http/body/body-source.ts'

interface Setup {
  readonly body: PassThrough
  readonly source: BodySource
  readonly abort: AbortController
  /** Listeners on request and signal, and timers. */
  traces(): number
}

interface Limits {
  readonly bytes?: number
  readonly timeoutMs?: number
  readonly partial?: boolean
}

function open(limits: Limits = {}, headers: IncomingMessage['headers'] = {}): Setup {
  const body = Object.assign(new PassThrough(), { headers })
  const [abort, before] = [new AbortController(), listeners(body)]
  let onSignal = 0
  const { signal } = abort
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  vi.spyOn(signal, 'addEventListener').mockImplementation((...args: Parameters<typeof add>) => {
    onSignal += 1
    add(...args)
  })
  vi.spyOn(signal, 'removeEventListener').mockImplementation((...args: Parameters<typeof remove>) => {
    onSignal -= 1
    remove(...args)
  })
  const source = openBodySource(
    body as unknown as IncomingMessage,
    { bytes: 100_000, timeoutMs: 5_000, ...limits },
    signal,
    () => Date.now(),
  )
  return { body, source, abort, traces: () => listeners(body) - before + onSignal + vi.getTimerCount() }
}

function listeners(body: PassThrough): number {
  return body.eventNames().reduce((count, name) => count + body.listenerCount(name), 0)
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

test('a body comes chunk by chunk, then its end', async () => {
  const { body, source, traces } = open()
  const first = source.read()
  body.write('ab')
  expect((await first)?.toString()).toBe('ab')
  expect(traces()).toBe(0)
  body.end('c')
  expect((await source.read())?.toString()).toBe('c')
  expect(await source.read()).toBeUndefined()
  expect(await source.read()).toBeUndefined()
  expect(traces()).toBe(0)
})

test('a declared length over the limit is refused unread, unless only the beginning is wanted', async () => {
  const headers = { 'content-length': '100001' }
  await expect(open({}, headers).source.read()).rejects.toMatchObject({ status: 413 })
  const { body, source } = open({ partial: true }, headers)
  body.write('ab')
  expect((await source.read())?.toString()).toBe('ab')
})

describe('a client that keeps us waiting gets 408', () => {
  test('when no byte comes in time', async () => {
    const { source, traces } = open()
    const read = source.read()
    read.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(4_999)
    expect(traces()).toBeGreaterThan(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(traces()).toBe(0)
    await expect(read).rejects.toMatchObject({ status: 408 })
    expect(traces()).toBe(0)
  })

  test('when bytes come in time, and far too few', async () => {
    const { body, source } = open()
    const trickle = async () => {
      for (;;) {
        const read = source.read()
        read.catch(() => undefined)
        await vi.advanceTimersByTimeAsync(4_000)
        body.write('x')
        await read
      }
    }
    const start = Date.now()
    await expect(trickle()).rejects.toMatchObject({ status: 408 })
    expect(Date.now() - start).toBe(12_000)
  })

  test('when most bytes have come at once, and the rest is late', async () => {
    const { body, source } = open()
    body.write('x'.repeat(90_000))
    expect(await source.read()).toHaveLength(90_000)
    const trickle = async () => {
      for (;;) {
        const read = source.read()
        read.catch(() => undefined)
        await vi.advanceTimersByTimeAsync(4_000)
        body.write('x')
        await read
      }
    }
    const start = Date.now()
    await expect(trickle()).rejects.toMatchObject({ status: 408 })
    expect(Date.now() - start).toBe(12_000)
  })

  test('but not for the time that we do not read', async () => {
    const { body, source } = open()
    body.write('a')
    await source.read()
    await vi.advanceTimersByTimeAsync(3_600_000)
    body.write('b')
    expect((await source.read())?.toString()).toBe('b')
  })

  test('and a slow one that sends enough is waited for', async () => {
    const { body, source } = open()
    let taken = 0
    for (let round = 0; round < 20; round += 1) {
      const read = source.read()
      await vi.advanceTimersByTimeAsync(4_000)
      body.write('x'.repeat(4_200))
      taken += (await read)?.length ?? 0
    }
    expect(taken).toBe(84_000)
  })
})

test('one byte over the limit is 413', async () => {
  const { body, source, traces } = open({ bytes: 3 })
  body.write('abc')
  expect((await source.read())?.toString()).toBe('abc')
  body.write('d')
  await expect(source.read()).rejects.toMatchObject({ status: 413, limit: { name: 'bytes', maximum: 3 } })
  expect(traces()).toBe(0)
})

describe('a read under way fails, and leaves nothing behind', () => {
  test.for<[string, (setup: Setup) => void, object]>([
    ['when the signal is aborted', ({ abort }) => abort.abort(new Error('gone')), { message: 'gone' }],
    ['when it is closed', ({ source }) => source.close(new Error('enough')), { message: 'enough' }],
    ['when the connection is lost', ({ body }) => void body.destroy(), { status: 400 }],
    ['when the connection is reset', ({ body }) => void body.destroy(new Error('ECONNRESET')), { status: 400 }],
  ])('%s', async ([, end, error]) => {
    const setup = open()
    const read = setup.source.read()
    end(setup)
    await expect(read).rejects.toMatchObject(error)
    expect(setup.traces()).toBe(0)
    await expect(setup.source.read()).rejects.toMatchObject(error)
  })
})
