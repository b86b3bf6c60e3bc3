import { describe, expect, test } from 'vitest'
// Loaded here, so that no test waits for it in the middle of an answer.
import '../../../src/shared/protocol/decode-values.ts'
import { createActionCalls, type CallHost } from '../../../src/client/actions/call-action.ts'
import { createJournal } from '../../../src/client/core/journal.ts'
import { createKnownRoutes } from '../../../src/client/core/known-routes.ts'
import { withoutHash } from '../../../src/client/core/local-href.ts'
import { createRetry } from '../../../src/client/core/retry.ts'
import { startFlight, type Flight } from '../../../src/client/core/route-flight.ts'
import { RouteLoadError } from '../../../src/client/core/router-errors.ts'
import { ROUTE_DATA_TYPE } from '../../../src/shared/protocol/route-data.ts'
import type { MadeCall, UnsentCall } from '../../../src/client/actions/unsent-calls.ts'
import { flush } from '../client/router-world.ts'

const BUILD = 'b1'

/** A call that the server has got. */
interface Got {
  readonly action: string
  readonly once: string
  readonly body: unknown
  answer(status: number, ...records: readonly object[]): void
  /** As a proxy or the runtime's guards do it. */
  text(status: number, headers?: Record<string, string>): void
  breakOff(): void
}

const head = { v: 1, build: BUILD, route: '/form', params: {}, scope: 'path' }
const result = (data: object) => ({ segment: '#action', data, lifetime: 0 })
const pageData = (data: unknown) => ({ segment: '/form#page', data })

function buildOf([first]: readonly object[]): string {
  return (first as { readonly build?: string } | undefined)?.build ?? BUILD
}

/** The page `/form` with data of its own, whatever is done to it, and the server at the other end. */
function world() {
  const got: Got[] = []
  const done: unknown[][] = []
  const note =
    (name: string) =>
    (...args: unknown[]): void =>
      void done.push([name, ...args])
  const entry = { key: '/form', definition: { page: () => undefined, loader: () => undefined } }
  const state = {
    visit: 1,
    leaving: undefined as number | undefined,
    data: { '/form#page': 0 } as Record<string, unknown>,
    outcome: undefined as { kind: string; at: number } | undefined,
    online: true,
    outdated: false,
    /** Answers to what the visitor is asked about a call that was not sent. */
    asked: [] as { readonly made: MadeCall; readonly why: string; readonly settle: (again: boolean) => void }[],
    /** Whether the code for that is here. */
    isLoaded: true,
  }
  const host = {
    world: {
      buildId: BUILD,
      now: () => 0,
      outdated: () => void (state.outdated = true),
      busy: () => undefined,
      journal: createJournal(),
      fetch: (url: string, init: { headers: Record<string, string>; body: unknown }) =>
        new Promise<Response>((resolve, reject) => {
          got.push({
            action: new URL(url, 'http://a').searchParams.get('_action') ?? '',
            once: init.headers['X-Millrace-Once'] ?? '',
            body: init.body,
            answer: (status, ...records) =>
              resolve(
                new Response([...records, { done: true }].map((line) => JSON.stringify(line)).join('\n') + '\n', {
                  status,
                  headers: { 'Content-Type': ROUTE_DATA_TYPE, 'X-Millrace-Build': buildOf(records) },
                }),
              ),
            text: (status, headers = {}) => resolve(new Response('no', { status, headers })),
            breakOff: () => reject(new TypeError('network')),
          })
        }),
    },
    known: createKnownRoutes(
      () => 0,
      () => undefined,
    ),
    startFlight,
    retry: createRetry(
      () => 0.5,
      (milliseconds) => {
        note('wait')(milliseconds)
        return Promise.resolve()
      },
    ),
    pageOf: withoutHash,
    unanswered: (href: string) => new RouteLoadError('route data', href),
    leaving: () => state.leaving,
    online: () => state.online,
    outdated: () => state.outdated,
    unsent: (made: MadeCall): Promise<UnsentCall> => {
      if (!state.isLoaded) return Promise.reject(new Error('no network'))
      return Promise.resolve({
        ask: (why) => new Promise((settle) => state.asked.push({ made, why, settle })),
        again: () => state.asked.at(-1)?.settle(true),
        end: (sent) => note('end')(sent),
      })
    },
    screen: () => ({
      href: '/form#here',
      visit: state.visit,
      page: { keys: [] },
      view: { chain: [entry], params: {}, search: {}, data: state.data, outcome: state.outcome },
    }),
    follow: (to: string, flight?: Flight) =>
      void done.push(['follow', to, flight && [flight.href, flight.head, [...flight.segments.keys()]]]),
    show: (view: { data: Record<string, unknown> }) => {
      state.data = view.data
      note('show')(view.data['/form#page'])
    },
    ...Object.fromEntries(
      ['refresh', 'forget', 'catchUp', 'revalidate', 'leave', 'keepDrafts', 'progress', 'renew'].map((name) => [
        name,
        note(name),
      ]),
    ),
  }
  return { got, done, state, known: host.known, call: createActionCalls(host as unknown as CallHost) }
}

describe('calls', () => {
  test('of one action go one after the other, those of others side by side', async () => {
    const { got, call } = world()
    const results = [call('a', [1]), call('a', [2]), call('b', [3])]
    await flush()
    expect(got.map(({ action }) => action)).toEqual(['a', 'b'])
    got[0]?.answer(200, head, result({ value: 'first' }))
    await flush()
    expect(got.map(({ action }) => action)).toEqual(['a', 'b', 'a'])
    got[1]?.answer(200, head, result({}))
    got[2]?.answer(200, head, result({ value: 'second' }))
    expect(await Promise.all(results)).toEqual(['first', 'second', null])
  })

  test('go on after one that has failed', async () => {
    const { got, call } = world()
    const [failing, next] = [call('a', []), call('a', [])]
    await flush()
    got[0]?.answer(500, head, { outcome: { kind: 'error', at: 0, digest: 'abc' } })
    await expect(failing).rejects.toThrow('abc')
    await flush()
    got[1]?.answer(200, head, result({ value: 1 }))
    expect(await next).toBe(1)
  })

  test('that break off are sent again under the same key, and the next call has another', async () => {
    const { got, done, call } = world()
    const first = call('a', [])
    await flush()
    got[0]?.breakOff()
    await flush()
    got[1]?.text(503, { 'Retry-After': '2' })
    await flush()
    got[2]?.answer(200, head, result({ value: 1 }))
    expect(await first).toBe(1)
    expect(new Set(got.map(({ once }) => once)).size).toBe(1)
    expect(done.filter(([name]) => name === 'wait')).toEqual([
      ['wait', 300],
      ['wait', 2000],
    ])
    void call('a', [])
    await flush()
    expect(got[3]?.once).not.toBe(got[0]?.once)
  })

  /** Lets a call fail in passing until it is not tried again. */
  async function failFourTimes(got: readonly Got[], fail: (one: Got | undefined) => void): Promise<void> {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await flush()
      fail(got[attempt])
    }
    await flush()
  }

  test('that nobody answers ask the visitor, and are sent again under the same key', async () => {
    const { got, done, state, call } = world()
    const value = call('a', [])
    await failFourTimes(got, (one) => one?.breakOff())
    expect(state.asked).toMatchObject([{ why: 'offline', made: { madeAt: 0, hasFile: false } }])
    state.asked[0]?.settle(true)
    for (let attempt = 4; attempt < 8; attempt += 1) {
      await flush()
      got[attempt]?.breakOff()
    }
    await flush()
    expect(state.asked).toHaveLength(2)
    state.asked[1]?.settle(true)
    await flush()
    got[8]?.answer(200, head, result({ value: 'v' }))
    expect(await value).toBe('v')
    expect(new Set(got.map(({ once }) => once)).size).toBe(1)
    expect(done).toContainEqual(['end', true])
    expect(done.filter(([name]) => name === 'keepDrafts')).toEqual([])
  })

  test('without a network are not tried again before the visitor is told', async () => {
    const { got, done, state, call } = world()
    state.online = false
    void call('a', [])
    await flush()
    got[0]?.breakOff()
    await flush()
    expect(state.asked).toHaveLength(1)
    expect(done).toEqual([])
  })

  test.for([
    ['HTML of somebody else', 200, {}, 'offline'],
    ['a portal that says so', 511, {}, 'offline'],
    ['a proxy whose server is gone', 502, {}, 'offline'],
    ['a server with too much to do', 503, { 'X-Millrace-Build': BUILD }, 'busy'],
    ['a server that wants fewer calls', 429, { 'X-Millrace-Build': BUILD }, 'busy'],
  ] as const)('that %s answers ask the visitor', async ([, status, headers, why]) => {
    const { got, state, call } = world()
    void call('a', [])
    await failFourTimes(got, (one) => one?.text(status, headers))
    expect(state.asked).toMatchObject([{ why }])
    // Who pays the portal first sees it once only.
    expect(got).toHaveLength(status === 200 || status === 511 ? 1 : 4)
  })

  test('that are given up leave the state as it was, and the next one goes', async () => {
    const { got, done, state, call } = world()
    state.online = false
    const former = { kind: 'former' }
    const values = [call('a', [7, former, new FormData()]), call('a', [1]), call('a', [2])]
    await flush()
    got[0]?.breakOff()
    await flush()
    state.asked[0]?.settle(false)
    expect(await values[0]).toBe(former)
    expect(done).toEqual([['end', false]])
    await flush()
    got[1]?.breakOff()
    await flush()
    state.asked[1]?.settle(false)
    expect(await values[1]).toBeNull()
    await flush()
    got[2]?.answer(200, head, result({ value: 2 }))
    expect(await values[2]).toBe(2)
  })

  test('of a script that are made again while they were not sent are one', async () => {
    const { got, state, call } = world()
    state.online = false
    const first = call('a', [{ id: 1 }])
    await flush()
    got[0]?.breakOff()
    await flush()
    const again = call('a', [{ id: 1 }])
    const other = call('a', [{ id: 2 }])
    await flush()
    expect(got).toHaveLength(2)
    got[1]?.answer(200, head, result({ value: 1 }))
    expect(await Promise.all([first, again])).toEqual([1, 1])
    await flush()
    got[2]?.answer(200, head, result({ value: 2 }))
    expect(await other).toBe(2)
    // What was sent is over: the same call is another one then.
    void call('a', [{ id: 1 }])
    await flush()
    expect(got).toHaveLength(4)
  })

  test('that nobody answers fail in the end where the code for asking has not come, and what was typed is kept', async () => {
    const { got, done, state, call } = world()
    state.isLoaded = false
    const failing = call('a', [])
    failing.catch(() => undefined)
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await flush()
      got[attempt]?.breakOff()
    }
    await expect(failing).rejects.toThrow('Failed to load route data: /form')
    expect(got).toHaveLength(4)
    expect(done.at(-1)).toEqual(['keepDrafts'])
  })

  test.for([413, 415, 403, 405])('refused by %i are not sent again', async (status) => {
    const { got, done, call } = world()
    const failing = call('a', [])
    await flush()
    got[0]?.text(status)
    await expect(failing).rejects.toMatchObject({ message: 'Failed to load route data: /form', status })
    expect(got).toHaveLength(1)
    expect(done).toEqual([['keepDrafts']])
  })

  test('that a server of another build has answered show the result, and the page is to be loaded anew', async () => {
    for (const [data, errors, renewed] of [
      [{ value: 'v' }, undefined, [['renew', false]]],
      [{}, undefined, [['renew', true]]],
      [{ errors: { name: ['no'] } }, { name: ['no'] }, []],
    ] as const) {
      const { got, done, call } = world()
      const value = call('a', [])
      await flush()
      got[0]?.answer(errors ? 422 : 200, { ...head, build: 'b2' }, result(data))
      expect(await value).toEqual(errors ? expect.objectContaining({ errors }) : 'value' in data ? data.value : null)
      expect(done).toEqual(renewed)
    }
  })

  test('of which a server of another build says what cannot be read load the document', async () => {
    const { got, done, call } = world()
    void call('a', [])
    await flush()
    got[0]?.answer(200, { ...head, v: 2, build: 'b2' }, result({}))
    await flush()
    expect(done).toEqual([['leave', '/form', 'refresh']])
  })

  test.for([
    ['of another build', 409],
    ['of an unknown action', 404],
  ] as const)('%s load the document, and never settle', async ([, status]) => {
    const { got, done, call } = world()
    let settled = false
    const mark = (): void => void (settled = true)
    call('a', []).then(mark, mark)
    await flush()
    got[0]?.answer(status, { v: 1, build: 'b2', document: true })
    await flush()
    expect(done).toEqual([['leave', '/form', 'refresh']])
    expect(settled).toBe(false)
  })
})

describe('the answer of a call', () => {
  test('brings the page its fresh data', async () => {
    const { got, done, call } = world()
    const value = call('a', [])
    await flush()
    got[0]?.answer(200, head, result({ value: 'v', revalidate: ['names'] }), pageData(1))
    expect(await value).toBe('v')
    expect(done).toEqual([
      ['revalidate', ['names']],
      ['show', 1],
    ])
  })

  test('has the page asked for anew where it was refused: it may be let through now', async () => {
    const { got, done, state, call } = world()
    state.outcome = { kind: 'unauthorized', at: 0 }
    const value = call('a', [])
    await flush()
    got[0]?.answer(200, head, result({ revalidate: ['/*'] }))
    expect(await value).toBeNull()
    expect(done).toEqual([['revalidate', ['/*']], ['refresh']])
  })

  test('is asked for anew where another call was answered meanwhile: it may be the older one', async () => {
    const { got, done, call } = world()
    const both = [call('a', []), call('b', [])]
    await flush()
    got[1]?.answer(200, head, result({ value: 'b' }), pageData(2))
    expect(await both[1]).toBe('b')
    got[0]?.answer(200, head, result({ value: 'a' }), pageData(1))
    expect(await both[0]).toBe('a')
    expect(done).toEqual([
      ['show', 2],
      ['forget', ['/*']],
    ])
  })

  test('leads elsewhere, but not who has gone already', async () => {
    for (const visit of [1, 2]) {
      const { got, done, state, call } = world()
      const value = call('a', [])
      await flush()
      state.visit = visit
      const there = { route: '/there', params: {}, scope: 'path' }
      got[0]?.answer(
        200,
        { ...head, ...there, redirect: { to: '/there?a=1#b' } },
        { segment: '/there#page', data: 1, lifetime: 0 },
      )
      expect(await value).toBeNull()
      const brought = ['/there?a=1', expect.objectContaining(there), ['/there#page']]
      expect(done).toEqual(visit === 1 ? [['follow', '/there?a=1#b', brought]] : [['catchUp']])
      expect(JSON.stringify(done)).not.toContain('redirect')
    }
  })

  test('leads to the very page with its fresh data, which is not asked for twice', async () => {
    for (const to of ['/form', '/form#saved']) {
      const { got, done, call } = world()
      const value = call('a', [])
      await flush()
      got[0]?.answer(200, { ...head, redirect: { to } }, result({}), pageData(1))
      expect(await value).toBeNull()
      expect(done).toEqual([['show', 1], ...(to === '/form' ? [] : [['follow', to, undefined]])])
    }
  })

  test('leads to a page whose data nobody has brought', async () => {
    const { got, done, call } = world()
    const value = call('a', [])
    await flush()
    got[0]?.answer(200, { v: 1, build: BUILD, redirect: { to: '/feed' } })
    expect(await value).toBeNull()
    expect(done).toEqual([['follow', '/feed', undefined]])
  })

  test('leads elsewhere, but not who has clicked a link since and still waits for its page', async () => {
    for (const [before, after] of [
      [undefined, undefined],
      [4, 4],
      [undefined, 5],
      [4, 5],
    ]) {
      const { got, done, state, call } = world()
      state.leaving = before
      const value = call('a', [])
      await flush()
      state.leaving = after
      got[0]?.answer(200, { ...head, route: '/there', redirect: { to: '/there' } }, result({}))
      expect(await value).toBeNull()
      expect(done).toEqual(after === 5 ? [] : [['follow', '/there', expect.anything()]])
    }
  })

  test('brings the data of the page that it leads to, under the URL that is asked for next', async () => {
    const { got, call, known } = world()
    const value = call('a', [])
    await flush()
    got[0]?.answer(200, { ...head, redirect: { to: "/form?q=%C3%A9'#part" } }, result({}), pageData(1))
    await value
    expect(known.verdict('/form?q=%C3%A9%27')?.value).toMatchObject({ route: '/form' })
    expect([...known.cache.entries.values()].map(({ path }) => path)).toEqual(['/form', '/form'])
  })

  test('says what is wrong, and the form what was typed', async () => {
    const { got, call } = world()
    const form = new FormData()
    form.append('name', 'annabel')
    form.append('tags', 'a')
    form.append('tags', 'b')
    form.append('photo', new File([], ''))
    const state = call('a', [null, form])
    await flush()
    got[0]?.answer(422, head, result({ errors: { name: ['is too long'] } }))
    expect(await state).toEqual({
      kind: 'invalid',
      errors: { name: ['is too long'] },
      values: { name: 'annabel', tags: ['a', 'b'] },
      omitted: [],
    })
  })

  test('is thrown where it is a refusal, for the boundary of its kind', async () => {
    const { got, done, call } = world()
    const failing = call('a', [])
    await flush()
    got[0]?.answer(404, head, { outcome: { kind: 'notFound', at: 0 } })
    await expect(failing).rejects.toMatchObject({ kind: 'notFound' })
    // Layouts around the fallback may show what is so no longer.
    expect(done).toEqual([['keepDrafts'], ['forget', ['/*']]])
  })

  test('that is a refusal still says what is to be dropped', async () => {
    const { got, done, call } = world()
    const failing = call('a', [])
    await flush()
    const said = result({ thrown: true, revalidate: ['/*'] })
    got[0]?.answer(401, head, said, { outcome: { kind: 'unauthorized', at: 0 } })
    await expect(failing).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(done).toEqual([['revalidate', ['/*']], ['keepDrafts'], ['forget', ['/*']]])
  })
})
