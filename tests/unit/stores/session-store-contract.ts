import { expect, it } from 'vitest'
import type { KeptSession, NewSession, SessionStore } from '../../../src/server/stores/session-store.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

/** A session of a user, seen at `NOW` unless `more` says otherwise. */
export function sessionOf(user: string, id: string, more: Partial<NewSession> = {}): NewSession {
  return {
    id,
    user,
    client: '192.0.2.1',
    data: '{"n":1}',
    userMarks: 'mark',
    userAgent: 'Mill/1',
    startedAt: NOW,
    seenAt: NOW,
    expiresAt: NOW + HOUR,
    ...more,
  }
}

/** Starts one that is not refused. */
async function startIn(store: SessionStore, session: NewSession, mostOfUser: number): Promise<KeptSession> {
  const kept = await store.start(session, mostOfUser)
  if (kept === undefined) throw new Error('The session was refused')
  return kept
}

const idsOf = async (store: SessionStore, user: string, now = NOW): Promise<readonly string[]> =>
  (await store.list(user, now)).map(({ id }) => id)

/**
 * What all session stores must do.
 * @param open two handles on one empty store, as two processes have them.
 */
export function sessionStoreContract(
  open: () => Promise<readonly [SessionStore, SessionStore]> | readonly [SessionStore, SessionStore],
): void {
  it('reads in another process what was started in one', async () => {
    const [one, other] = await open()
    const session = await startIn(one, sessionOf('ann', 'a'), 5)
    expect(session).toMatchObject(sessionOf('ann', 'a'))
    expect(await other.read('a', NOW)).toEqual(session)
    expect(await other.read('b', NOW)).toBeUndefined()
    expect(await other.list('ann', NOW)).toEqual([session])
  })

  it('finds nothing once the session has expired', async () => {
    const [store] = await open()
    await store.start(sessionOf('ann', 'a'), 5)
    expect(await store.read('a', NOW + HOUR - 1)).toBeDefined()
    expect(await store.read('a', NOW + HOUR)).toBeUndefined()
    expect(await idsOf(store, 'ann', NOW + HOUR)).toEqual([])
  })

  it('is ended for all at once, and neither a use nor a change in progress revives it', async () => {
    const [one, other] = await open()
    const session = await startIn(one, sessionOf('ann', 'a'), 5)
    expect(await one.end('ann', 'a')).toBe(true)
    expect(await other.write(session, '{}', NOW)).toBeUndefined()
    await other.touch(session, { seenAt: NOW + 1, expiresAt: NOW + 2 * HOUR })
    expect(await other.read('a', NOW)).toBeUndefined()
    expect(await idsOf(one, 'ann')).toEqual([])
    expect(await one.end('ann', 'a')).toBe(false)
  })

  it('ends no session of another user, however its id was learned', async () => {
    const [store] = await open()
    await store.start(sessionOf('ann', 'a'), 5)
    for (const id of ['a', 'nothing']) expect(await store.end('bob', id)).toBe(false)
    expect(await store.read('a', NOW)).toBeDefined()
    expect(await idsOf(store, 'ann')).toEqual(['a'])
  })

  it('lives on by its use, and keeps the latest of two uses', async () => {
    const [one, other] = await open()
    const session = await startIn(one, sessionOf('ann', 'a'), 5)
    await one.touch(session, { seenAt: NOW + 100, expiresAt: NOW + 100 + HOUR })
    await other.touch(session, { seenAt: NOW + 50, expiresAt: NOW + 50 + HOUR })
    expect(await one.read('a', NOW + HOUR + 50)).toMatchObject({ seenAt: NOW + 100, expiresAt: NOW + 100 + HOUR })
    expect(await idsOf(one, 'ann', NOW + HOUR + 50)).toEqual(['a'])
  })

  it('keeps new data and nothing else that is new', async () => {
    const [one, other] = await open()
    const session = await startIn(one, sessionOf('ann', 'a'), 5)
    expect(await one.write(session, '{"n":2}', NOW)).toMatchObject({ data: '{"n":2}' })
    expect(await other.read('a', NOW)).toMatchObject(sessionOf('ann', 'a', { data: '{"n":2}' }))
  })

  it('keeps new data of one that was used meanwhile, and the use', async () => {
    const [one, other] = await open()
    const session = await startIn(one, sessionOf('ann', 'a'), 5)
    await other.touch(session, { seenAt: NOW + 100, expiresAt: NOW + 100 + HOUR })
    await one.write(session, '{"n":2}', NOW + 100)
    expect(await other.read('a', NOW)).toMatchObject({
      data: '{"n":2}',
      seenAt: NOW + 100,
      expiresAt: NOW + 100 + HOUR,
    })
  })

  it('ends all of a user, also one that another of them becomes at this moment, and not one of others', async () => {
    const [one, other] = await open()
    const session = await startIn(one, sessionOf('ann', 'a'), 5)
    for (const [user, id] of [
      ['ann', 'b'],
      ['bob', 'c'],
    ] as const)
      await one.start(sessionOf(user, id), 5)
    expect((await other.endAll('ann', NOW)).ended).toBe(2)
    expect(await one.start(sessionOf('ann', 'next'), 5, session)).toBeUndefined()
    expect(await one.write(session, '{}', NOW)).toBeUndefined()
    expect([await idsOf(one, 'ann'), await idsOf(one, 'bob')]).toEqual([[], ['c']])
    expect(await one.start(sessionOf('ann', 'new'), 5)).toBeDefined()
  })

  it('ends all of a user but one, which may be changed and get a new id, as it was read before', async () => {
    const [one, other] = await open()
    for (const id of ['a', 'b', 'c']) await one.start(sessionOf('ann', id), 5)
    const before = await one.read('b', NOW)
    const { ended } = await other.endAll('ann', NOW, 'b')
    expect([ended, await idsOf(one, 'ann')]).toEqual([2, ['b']])
    expect(before && (await one.write(before, '{"n":2}', NOW))).toMatchObject({ data: '{"n":2}' })
    expect(await one.start(sessionOf('ann', 'b, renewed'), 5, before)).toBeDefined()
  })

  it('ends those of the user that expire first when there are too many, and none of others', async () => {
    const [store] = await open()
    await store.start(sessionOf('bob', 'b', { expiresAt: NOW + HOUR / 2 }), 2)
    for (const [id, age] of [
      ['old', 3],
      ['newer', 1],
      ['new', 0],
    ] as const) {
      await store.start(sessionOf('ann', id, { seenAt: NOW - age, expiresAt: NOW + HOUR - age }), 2)
    }
    expect(await idsOf(store, 'ann')).toEqual(['new', 'newer'])
    expect(await store.read('old', NOW)).toBeUndefined()
    expect(await idsOf(store, 'bob')).toEqual(['b'])
  })

  it('never ends the session that was just started, even if it expires first', async () => {
    const [store] = await open()
    await store.start(sessionOf('ann', 'long', { expiresAt: NOW + 2 * HOUR }), 1)
    await store.start(sessionOf('ann', 'short', { seenAt: NOW + 1 }), 1)
    expect(await idsOf(store, 'ann')).toEqual(['short'])
  })
}
