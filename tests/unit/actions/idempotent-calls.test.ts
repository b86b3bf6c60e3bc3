import { describe, expect, test } from 'vitest'
import { redirect } from '../../../src/shared/control-flow.ts'
import { createIdempotentCalls } from '../../../src/server/routes/actions/idempotent-calls.ts'
import { RequestAborted } from '../../../src/server/request/request-aborted.ts'
import type { FinishedCall } from '../../../src/server/routes/actions/run-action.ts'
import type { IdempotencyState, IdempotencyStore } from '../../../src/server/stores/idempotency-store.ts'

const NO_SESSIONS = { stateOf: async () => 'kept' as const }

/** A store that several processes share. */
function sharedStore() {
  const kept = new Map<string, IdempotencyState>()
  const store: IdempotencyStore = {
    async begin(key) {
      const known = kept.get(key)
      if (known === undefined) kept.set(key, { state: 'running' })
      return known ?? { state: 'new' }
    },
    has: async (key) => kept.has(key),
    finish: async (key, result) => void kept.set(key, { state: 'done', result }),
    abandon: async (key) => void kept.delete(key),
  }
  return { store, kept }
}

function context(address = '203.0.113.9') {
  const warnings: unknown[] = []
  const headers = new Headers()
  return {
    warnings,
    headers,
    loaderContext: { headers },
    req: { headers: {} },
    get givenHeaders() {
      return headers
    },
    clientAddress: { address },
    audience: { sessions: undefined },
    signal: new AbortController().signal,
    log: { warn: (...line: unknown[]) => void warnings.push(line) },
  }
}

const value = (result: unknown, revalidate: readonly string[] = []): FinishedCall => ({
  outcome: { kind: 'value', value: result },
  revalidate,
})

function processOf(store: IdempotencyStore, isOfRouter = true) {
  const calls = createIdempotentCalls({ calls: store, sessions: NO_SESSIONS }, () => 0)
  let runs = 0
  return {
    get runs() {
      return runs
    },
    run(work: () => FinishedCall | Promise<FinishedCall>, own = context()) {
      const counted = async (): Promise<FinishedCall> => {
        runs += 1
        return work()
      }
      return calls.run({ sent: 'key', content: 'content', isOfRouter, repeated: () => 'key' }, counted, own as never)
    },
  }
}

describe('a call with the key of another one', () => {
  test('waits for the one that is under way in this process, and both get its outcome', async () => {
    const { promise, resolve } = Promise.withResolvers<FinishedCall>()
    const one = processOf(sharedStore().store)
    const [first, again] = [context(), context()]
    const both = Promise.all([one.run(() => promise, first), one.run(() => value('never'), again)])
    first.headers.append('Set-Cookie', 'a=1')
    resolve(value(1))
    expect(await both).toEqual([value(1), value(1)])
    expect(again.headers.getSetCookie()).toEqual(['a=1'])
    expect(one.runs).toBe(1)
  })

  test('gets no cookie that something else has written while it waited', async () => {
    const { run } = processOf(sharedStore().store)
    const contexts = ['', 'basket=of-another-tab', ''].map((cookie) => {
      const own = context()
      return { ...own, req: { headers: { cookie } } }
    })
    const { promise, resolve } = Promise.withResolvers<FinishedCall>()
    const [first] = contexts
    const work = async () => {
      first?.headers.append('Set-Cookie', 'basket=own')
      return promise
    }
    const calls = contexts.map((own) => run(work, own as never))
    resolve(value('put'))
    await Promise.all(calls)
    expect(contexts.map(({ headers }) => headers.getSetCookie())).toEqual([['basket=own'], [], ['basket=own']])
  })

  test('is not run while another process works on it', async () => {
    const { store } = sharedStore()
    const { promise, resolve } = Promise.withResolvers<FinishedCall>()
    const [one, other] = [processOf(store), processOf(store)]
    const first = one.run(() => promise)
    expect(await other.run(() => value('never'))).toBe('running')
    resolve(value(1))
    await first
    expect(await other.run(() => value('never'))).toEqual(value(1))
    expect(other.runs).toBe(0)
  })

  test('as the form of a document waits for the other process, unless its visitor leaves', async () => {
    const { store } = sharedStore()
    const { promise, resolve } = Promise.withResolvers<FinishedCall>()
    const first = processOf(store).run(() => promise)
    const [other, third] = [processOf(store, false), processOf(store, false)]
    const again = other.run(() => value('never'))
    const leaving = new AbortController()
    const left = third.run(() => value('never'), { ...context(), signal: leaving.signal })
    leaving.abort()
    await expect(left).rejects.toThrow('abort')
    resolve(value(1))
    await first
    expect([await again, other.runs, third.runs]).toEqual([value(1), 0, 0])
  })

  test('gets value, headers and what is to be dropped, in another process too', async () => {
    const { store } = sharedStore()
    const rich = { at: new Date(5), tags: new Set(['a']), nothing: undefined }
    const first = context()
    await processOf(store).run(() => {
      first.headers.append('Set-Cookie', 'a=1')
      first.headers.append('Set-Cookie', 'b=2')
      return value(rich, ['names'])
    }, first)
    const again = context()
    expect(await processOf(store).run(() => value('never'), again)).toEqual(value(rich, ['names']))
    expect(again.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  test('finds what the store cannot read: a copy of it holds no cookie, and no key', async () => {
    const { store, kept } = sharedStore()
    const first = context()
    await processOf(store).run(() => {
      first.headers.append('Set-Cookie', '__Host-session=secret')
      return value('of the visitor alone')
    }, first)
    const [[name = '', state] = []] = kept
    const result = state?.state === 'done' ? state.result : ''
    const text = `${name} ${result} ${Buffer.from(result, 'base64url').toString('latin1')}`
    expect(text).not.toMatch(/secret|visitor|\bkey\b/)
    expect(await processOf(store).run(() => value('never'))).toEqual(value('of the visitor alone'))
  })

  test.for(['', 'x', 'A'.repeat(80)])('does not run again where the outcome is damaged: %j', async (result) => {
    const { store, kept } = sharedStore()
    await processOf(store).run(() => value(1))
    for (const name of kept.keys()) kept.set(name, { state: 'done', result })
    const other = processOf(store)
    expect([await other.run(() => value(2)), other.runs]).toEqual(['running', 0])
  })

  test('is led where the first one was', async () => {
    const { store } = sharedStore()
    const leave = (): FinishedCall => {
      try {
        return redirect('/there')
      } catch (thrown) {
        return { outcome: { kind: 'thrown', thrown }, revalidate: [] }
      }
    }
    await processOf(store).run(leave)
    const again = await processOf(store).run(() => value('never'))
    expect(again).toMatchObject({ outcome: { kind: 'thrown', thrown: { to: '/there' } } })
  })

  test.for([
    ['failed', { kind: 'thrown', thrown: new Error('x') }],
    ['was refused', { kind: 'invalid', state: { kind: 'invalid', errors: {}, values: {}, omitted: [] } }],
  ] as const)('runs again after one that %s', async ([, outcome]) => {
    const one = processOf(sharedStore().store)
    await one.run(() => ({ outcome, revalidate: [] }))
    expect(await one.run(() => value(2))).toEqual(value(2))
  })

  test.for(['thrown', 'failed'] as const)(
    'runs again after one that has stopped with its signal (%s)',
    async (kind) => {
      const aborted = new RequestAborted('gone')
      const left = { ...context(), aborted, signal: AbortSignal.abort(aborted) }
      for (const [thrown, isAgain] of [
        [aborted, true],
        [new Error('The operation was aborted', { cause: aborted }), true],
        // Of a time limit of its own: it may have done its work.
        [new DOMException('This operation was aborted', 'AbortError'), false],
        [new Error('no mail server'), false],
      ] as const) {
        const { promise, resolve } = Promise.withResolvers<FinishedCall>()
        const one = processOf(sharedStore().store)
        const first = one.run(() => promise, left)
        const again = one.run(() => value('done'))
        const stopped = { outcome: { kind, thrown, typed: {} }, revalidate: [] } as unknown as FinishedCall
        resolve(stopped)
        expect([await first, await again]).toEqual([stopped, isAgain ? value('done') : stopped])
      }
    },
  )

  test('gets the outcome of the form that the browser itself has sent, or is sending, and is not that form otherwise', async () => {
    const { store } = sharedStore()
    const calls = createIdempotentCalls({ calls: store, sessions: NO_SESSIONS }, () => 0)
    const keyOf = (sent: string) => ({ sent, content: sent, isOfRouter: false, repeated: () => sent })
    const press = (form: string, result: Promise<FinishedCall>) =>
      calls.run({ ...keyOf(`router ${form}`), asForm: keyOf(form) }, () => result, context() as never)
    const { promise, resolve } = Promise.withResolvers<FinishedCall>()
    const early = calls.run(keyOf('form'), () => promise, context() as never)
    const late = press('form', Promise.resolve(value('never')))
    resolve(value(1))
    expect(await Promise.all([early, late])).toEqual([value(1), value(1)])
    expect(await press('form', Promise.resolve(value('never')))).toEqual(value(1))
    expect(await press('another', Promise.resolve(value(2)))).toEqual(value(2))
    expect(await store.has('another', 0)).toBe(false)
  })

  test('runs again after one that broke off', async () => {
    const { store, kept } = sharedStore()
    const one = processOf(store)
    await expect(one.run(() => Promise.reject(new Error('no body')))).rejects.toThrow('no body')
    expect(kept.size).toBe(0)
    expect(await one.run(() => value(2))).toEqual(value(2))
  })
})

test('a store that fails is warned about, and the call is answered', async () => {
  const broken = (): never => {
    throw new Error('disk full')
  }
  const own = context()
  const one = processOf({ begin: broken, finish: broken, abandon: broken } as unknown as IdempotencyStore)
  expect(await one.run(() => value(1), own)).toEqual(value(1))
  expect(JSON.stringify(own.warnings)).toContain('disk full')
})

test('large results are not kept all at once, and clients take turns', async () => {
  const { store } = sharedStore()
  const writing: string[] = []
  const { promise: disk, resolve: write } = Promise.withResolvers<void>()
  const slow: IdempotencyStore = {
    ...store,
    async finish(key, result, now, client) {
      writing.push(client ?? '')
      await disk
      return store.finish(key, result, now, client)
    },
  }
  const calls = createIdempotentCalls({ calls: slow, sessions: NO_SESSIONS }, () => 0)
  const call = (key: string, address: string): Promise<unknown> => {
    const keys = { sent: key, content: key, isOfRouter: true, repeated: () => key }
    return calls.run(keys, async () => value('x'.repeat(400_000)), context(address) as never)
  }
  const all = Array.from({ length: 9 }, (_, at) => call(`greedy ${at}`, '198.51.100.7'))
  all.push(call('honest', '203.0.113.9'))
  await new Promise(setImmediate)
  expect(writing).toEqual(['198.51.100.7', '198.51.100.7'])
  write()
  await Promise.all(all)
  expect(writing.indexOf('203.0.113.9')).toBeLessThanOrEqual(3)
  expect(writing).toHaveLength(10)
})

test('repeated calls get the outcome in turns, from the store and from a call that they have waited for', async () => {
  const { store } = sharedStore()
  const turns: { readonly address: string; readonly come: () => void }[] = []
  const turn = ({ clientAddress }: { clientAddress: { address: string } }): Promise<void> =>
    new Promise((come) => turns.push({ address: clientAddress.address, come }))
  const calls = createIdempotentCalls({ calls: store, sessions: NO_SESSIONS }, () => 0, turn as never)
  const call = (address: string): Promise<unknown> =>
    calls.run(
      { sent: 'key', content: 'content', isOfRouter: true, repeated: () => 'key' },
      async () => value('large'),
      context(address) as never,
    )
  const first = call('192.0.2.1')
  const joined = call('192.0.2.2')
  await first
  await expect.poll(() => turns.map(({ address }) => address)).toEqual(['192.0.2.2'])
  turns[0]?.come()
  expect(await joined).toEqual(await first)
  const stored = call('192.0.2.3')
  await expect.poll(() => turns.length).toBe(2)
  turns[1]?.come()
  expect(await stored).toMatchObject({ outcome: { kind: 'value', value: 'large' } })
})
