import { describe, expect, test } from 'vitest'
import { flush } from './route-data-server.ts'
import { BUILD, head, result, world, type Got } from './call-world.ts'

/** Lets a call fail in passing until it is not tried again. */
async function failFourTimes(got: readonly Got[], fail: (one: Got | undefined) => void): Promise<void> {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    await flush()
    fail(got[attempt])
  }
  await flush()
}

describe('calls', () => {
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

  test('of a former user are not sent for the next one: not again, and not those behind them', async () => {
    const { got, done, state, call, changeOwner } = world()
    state.online = false
    const values = [call('a', []), call('a', [1])]
    await flush()
    got[0]?.breakOff()
    await flush()
    changeOwner()
    state.asked[0]?.settle(true)
    expect(await Promise.all(values)).toEqual([null, null])
    expect(got).toHaveLength(1)
    expect(done).toEqual([['end', false]])
    const next = call('a', [1])
    await flush()
    got[1]?.answer(200, head, result({ value: 'for the next' }))
    expect(await next).toBe('for the next')
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
})

describe('calls of a page of another build', () => {
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
})
