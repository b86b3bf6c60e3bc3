import { describe, expect, test } from 'vitest'
import { flush } from './route-data-server.ts'
import { BUILD, head, pageData, result, world } from './call-world.ts'

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

  test.for([413, 415, 403, 405])('refused by %i are not sent again', async (status) => {
    const { got, done, call } = world()
    const failing = call('a', [])
    await flush()
    got[0]?.text(status)
    await expect(failing).rejects.toMatchObject({ message: 'Failed to load route data: /form', status })
    expect(got).toHaveLength(1)
    expect(done).toEqual([['keepDrafts']])
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
      ['revalidate', ['names'], undefined],
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
    expect(done).toEqual([['revalidate', ['/*'], undefined], ['refresh']])
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
    expect(known.answerOf('/form?q=%C3%A9%27')?.value).toMatchObject({ route: '/form' })
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
    expect(done).toEqual([['revalidate', ['/*'], undefined], ['keepDrafts'], ['forget', ['/*']]])
  })
})

describe('an answer that arrives after its user', () => {
  const dataOf = (values: object) => [{ ...head, sessions: 'session:ann.u1' }, result(values), pageData('of ann')]

  test.for(['leave', 'changeOwner'] as const)(
    'has signed out, or another one is here, shows nothing: %s',
    async (change) => {
      const one = world()
      const state = new FormData()
      const [shown, told] = [one.call('a', ['former', state]), one.call('b', [1])]
      const redirected = one.call('c', [])
      await flush()
      one[change]()
      for (const got of one.got.slice(0, 2)) got.answer(200, ...dataOf({ value: 'SECRET' }))
      one.got[2]?.answer(200, { ...head, redirect: { to: '/private', status: 303 } }, pageData('of ann'))
      expect(await Promise.all([shown, told, redirected])).toEqual(['former', null, null])
      const names = one.done.map(([name]) => name)
      expect(names.filter((name) => name === 'forget')).toHaveLength(3)
      expect(names.filter((name) => ['show', 'follow', 'leave'].includes(String(name)))).toEqual([])
    },
  )

  test('shows nothing if the tab learns only by it that its user has left', async () => {
    const one = world()
    Object.assign(one.host.world, { learn: () => true })
    const called = one.call('a', [])
    await flush()
    one.got[0]?.answer(200, ...dataOf({ value: 'SECRET' }))
    expect([await called, one.done]).toEqual([null, [['forget', ['/*']]]])
  })

  test('is shown if its user is back', async () => {
    const one = world()
    const called = one.call('a', [])
    await flush()
    one.leave()
    one.comeBack()
    one.got[0]?.answer(200, ...dataOf({ value: 'done' }))
    expect([await called, one.done]).toEqual(['done', [['show', 'of ann']]])
    const late = one.call('a', [])
    await flush()
    one.leave()
    one.changeOwner()
    one.comeBack()
    one.got[1]?.answer(200, ...dataOf({ value: 'SECRET' }))
    expect(await late).toBeNull()
  })

  test('is shown if it is that of the sign-out itself, or of the sign-in', async () => {
    for (const change of ['leave', 'changeOwner'] as const) {
      const one = world()
      Object.assign(one.host.world, { learn: (sessions: string | undefined) => void (sessions && one[change]()) })
      const called = one.call('a', [])
      await flush()
      one.got[0]?.answer(200, ...dataOf({ value: 'done' }))
      expect([await called, one.done]).toEqual(['done', [['show', 'of ann']]])
    }
  })

  test('says what was refused', async () => {
    const one = world()
    const called = one.call('a', [])
    await flush()
    one.leave()
    one.got[0]?.answer(401, head, { outcome: { kind: 'unauthorized', at: 0 } })
    await expect(called).rejects.toThrow('unauthorized')
  })

  test('is loaded as a document where the call has ended the session, and its code gets no result', async () => {
    for (const [redirect, left] of [
      [undefined, ['/form', 'refresh']],
      [{ to: '/form' }, ['/form', 'push']],
      [{ to: '/other' }, ['/other', 'push']],
    ] as const) {
      const one = world()
      const settled: unknown[] = []
      void one.call('a', []).then((value) => settled.push(value))
      await flush()
      one.state.isFormer = true
      one.got[0]?.answer(200, { ...head, left: true, ...(redirect && { redirect, route: undefined }) }, result({}))
      await flush()
      expect([one.done, settled]).toEqual([[['leave', ...left]], []])
    }
  })

  test('is shown where another session of the browser goes on, and the page is asked for', async () => {
    const one = world()
    const called = one.call('a', [])
    await flush()
    one.got[0]?.answer(200, { ...head, left: true }, result({ value: 'ordered' }))
    expect([await called, one.done]).toEqual(['ordered', [['forget', ['/*']]]])
  })

  test('asks for the page again after a refusal that has no data of it', async () => {
    const one = world()
    const called = one.call('a', [])
    await flush()
    one.state.isFormer = true
    one.got[0]?.answer(200, head, result({ errors: { '': ['wrong'] } }))
    await called
    expect(one.done).toEqual([['forget', ['/*']]])
  })
})

test('what a former user’s code calls waits for that user', async () => {
  const one = world()
  one.state.isFormer = true
  one.leave()
  const called = one.call('a', [])
  await flush()
  one.comeBack()
  await flush()
  expect(one.got, 'another one is back').toHaveLength(0)
  one.state.isFormer = false
  one.comeBack()
  await flush()
  one.got[0]?.answer(200, head, result({ value: 'done' }), pageData('of ann'))
  expect(await called).toBe('done')
})

describe('the key of a document’s form', () => {
  const hasKey = async ({ call, got }: ReturnType<typeof world>): Promise<boolean> => {
    const fields = new FormData()
    fields.append('$ACTION_ONCE', 'key-of-the-document')
    fields.append('name', 'ann')
    void call(`of ${got.length}`, [fields])
    await flush()
    const { body } = got.at(-1) ?? {}
    return body instanceof FormData && body.has('$ACTION_ONCE')
  }

  test('goes with the first call of a form only: the browser itself may be sending it', async () => {
    const one = world([{ type: 'navigate' }, { name: 'visible' }])
    expect([await hasKey(one), await hasKey(one)]).toEqual([true, false])
  })

  test('goes with none once the browser has been at another document', async () => {
    const one = world()
    one.hide()
    expect(await hasKey(one)).toBe(false)
    // And before this code was there.
    for (const entry of [{ type: 'back_forward' }, { name: 'hidden' }]) {
      expect(await hasKey(world([entry]))).toBe(false)
    }
  })
})
