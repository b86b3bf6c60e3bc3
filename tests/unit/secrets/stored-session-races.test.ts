/** A session that gets a new id while all sessions of its user are ended: a stolen one must not slip through. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { RefusalSignal } from '../../../src/shared/control-flow.ts'
import { UnavailableError } from '../../../src/server/http/unavailable-error.ts'
import { defineStoredSession } from '../../../src/server/secrets/define-stored-session.ts'
import type { StoredSession } from '../../../src/server/secrets/stored-session.ts'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'
import { createSessionStore, SESSIONS, type SessionStore } from '../../../src/server/stores/session-store.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import { openSessionDatabase } from '../../../src/server/stores/store-databases.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { browserJar } from './browser-jar.ts'

const NOW = 1_800_000_000_000

interface Signed {
  readonly user: string
  readonly role?: string | undefined
}

/** A store whose steps can wait, and two browsers of one user. */
async function signedInTwice() {
  const folder = await makeTempDir('session-races')
  const database = openSessionDatabase(folder.path)
  onTestFinished(async () => {
    database.dispose()
    await folder.remove()
  })
  const store = createSessionStore(createSqliteStore(database, SESSIONS))
  /** What happens in front of a step, once. */
  const before: Partial<Record<'start' | 'end' | 'endAll' | 'write', () => Promise<unknown>>> = {}
  const stepping = async (step: keyof typeof before): Promise<void> => {
    const work = before[step]
    delete before[step]
    await work?.()
  }
  const watched: SessionStore = {
    ...store,
    async start(...given) {
      await stepping('start')
      return store.start(...given)
    },
    async write(...given) {
      await stepping('write')
      return store.write(...given)
    },
    async endAll(...given) {
      await stepping('endAll')
      return store.endAll(...given)
    },
    async end(...given) {
      await stepping('end')
      return store.end(...given)
    },
  }
  const sessions = defineStoredSession(
    {
      schema: z.object({ user: z.string(), role: z.string().optional() }),
      user: ({ user }) => user,
      sessionsPerUser: 2,
    },
    () => NOW,
  )
  const secrets = createSecrets(['a key for the tests of sessions, long enough'], () => NOW)
  const [owner, thief] = [browserJar(secrets), browserJar(secrets)]
  const contexts = new Map<object, { readonly headers: Headers }>()
  const open = async (browser: typeof owner) => {
    const context = { ...browser.request(), sessionStore: watched }
    contexts.set(browser, context)
    const session = await sessions.open(context)
    contexts.set(session, context)
    return session
  }
  /** @param of the session whose request is answered; default: the last one that the browser has opened. */
  const take = (browser: typeof owner, of: object = browser): void => browser.receive(contexts.get(of) as never)
  for (const browser of [owner, thief]) {
    await (await open(browser)).set({ user: 'ann' })
    take(browser)
  }
  const endAll = () => sessions.endAll({ ...owner.request(), sessionStore: watched }, 'ann')
  const isSignedIn = async (browser: typeof owner) => (await open(browser)).data !== undefined
  return { before, owner, thief, open, take, endAll, isSignedIn }
}

describe('signing out', () => {
  test.for(['start', 'end'] as const)('ends a session that gets a new id, in front of its %s', async (step) => {
    const { before, thief, open, take, isSignedIn } = await signedInTwice()
    const [rotated, cleared] = [await open(thief), await open(thief)]
    before[step] = () => cleared.clear()
    await expect(rotated.rotate()).rejects.toThrow(RefusalSignal)
    await rotated.clear()
    expect(await isSignedIn(thief)).toBe(false)
    take(thief)
  })

  test.for([1, 3])('ends a session that has got %d new ids since it was read', async (times) => {
    const { thief, open, take, isSignedIn } = await signedInTwice()
    const cleared = await open(thief)
    for (let time = 0; time < times; time += 1) {
      await (await open(thief)).rotate()
      take(thief)
    }
    await cleared.clear()
    expect(await isSignedIn(thief)).toBe(false)
  })

  test.for([
    ['clear', (session: StoredSession<Signed>) => session.clear()],
    ['set for another user', (session: StoredSession<Signed>) => session.set({ user: 'bob' })],
  ] as const)('by %s ends a session whose new id has not reached the browser that asks', async ([, leave]) => {
    const { thief, open, take, isSignedIn } = await signedInTwice()
    const rotated = await open(thief)
    await rotated.rotate()
    // The browser sends its former cookie: the answer with the new one is on its way.
    await leave(await open(thief))
    take(thief, rotated)
    expect(await isSignedIn(thief)).toBe(false)
  })

  test('of a device ends it by the id of a list that was read before it got new ones', async () => {
    const { owner, thief, open, take, isSignedIn } = await signedInTwice()
    const own = await open(owner)
    const listed = (await own.devices()).find(({ isCurrent }) => !isCurrent)
    for (let time = 0; time < 2; time += 1) {
      await (await open(thief)).rotate()
      take(thief)
    }
    expect((await own.devices()).map(({ id }) => id)).toContain(listed?.id)
    expect(await own.end(listed?.id ?? '')).toBe(true)
    expect([await isSignedIn(thief), await isSignedIn(owner)]).toEqual([false, true])
  })
})

describe('ending all sessions of a user', () => {
  test.each(['start', 'end'] as const)('ends one that gets a new id, in front of its %s', async (step) => {
    const { before, thief, open, take, endAll, isSignedIn } = await signedInTwice()
    const session = await open(thief)
    before[step] = endAll
    await expect(session.rotate()).rejects.toThrow(RefusalSignal)
    take(thief)
    expect(await isSignedIn(thief)).toBe(false)
  })

  test('ends one that is changed at that moment: the change does not revive it', async () => {
    const { before, thief, open, take, endAll, isSignedIn } = await signedInTwice()
    const session = await open(thief)
    before.write = endAll
    await expect(session.set({ user: 'ann' })).rejects.toThrow(RefusalSignal)
    expect(session.data).toBeUndefined()
    take(thief)
    expect(await isSignedIn(thief)).toBe(false)
  })

  test('ends one that got a new id just before', async () => {
    const { before, thief, open, take, endAll, isSignedIn } = await signedInTwice()
    const session = await open(thief)
    before.endAll = () => session.rotate()
    expect(await endAll()).toBe(2)
    take(thief)
    expect(await isSignedIn(thief)).toBe(false)
  })
})

test.each(['start', 'end'] as const)(
  'ending all others ends one that gets a new id, in front of its %s, and keeps its own, which may get one',
  async (step) => {
    const { before, owner, thief, open, take, isSignedIn } = await signedInTwice()
    const [own, session] = [await open(owner), await open(thief)]
    before[step] = () => own.endOthers()
    await expect(session.rotate()).rejects.toThrow(RefusalSignal)
    take(thief)
    await own.rotate()
    take(owner)
    expect([await isSignedIn(thief), await isSignedIn(owner)]).toEqual([false, true])
  },
)

test.each(['set', 'rotate'] as const)(
  'ending all others leaves another request of the same browser signed in, which goes on with its %s',
  async (change) => {
    const { owner, thief, open, take, isSignedIn } = await signedInTwice()
    const quick = await open(owner)
    const slow = await open(owner)
    expect(await quick.endOthers()).toBe(1)
    await (change === 'set' ? slow.set({ user: 'ann' }) : slow.rotate())
    take(owner)
    expect([await isSignedIn(owner), await isSignedIn(thief)]).toEqual([true, false])
  },
)

test('a new id ends no session of another device where the user has as many as are allowed', async () => {
  const { owner, thief, open, take, isSignedIn } = await signedInTwice()
  await (await open(owner)).rotate()
  take(owner)
  expect([await isSignedIn(owner), await isSignedIn(thief)]).toEqual([true, true])
})

test('a message of an earlier request is gone for the next user, and one of the same request stays', async () => {
  const { thief, open, take } = await signedInTwice()
  await (await open(thief)).flash('Ann, your result is here')
  take(thief)
  const leaving = await open(thief)
  await leaving.clear()
  take(thief)
  expect((await open(thief)).takeFlash()).toBeUndefined()
  const next = await open(thief)
  await next.flash('Welcome')
  await next.set({ user: 'bob' })
  take(thief)
  expect((await open(thief)).takeFlash()).toBe('Welcome')
})

test.each(['start', 'end'] as const)('a new id keeps what another request has set before its %s', async (step) => {
  const { before, thief, open, take } = await signedInTwice()
  const [rotated, other] = [await open(thief), await open(thief)]
  before[step] = () => other.set({ user: 'ann', role: 'guest' })
  await rotated.rotate()
  expect(rotated.data).toEqual({ user: 'ann', role: 'guest' })
  take(thief, rotated)
  expect((await open(thief)).data).toEqual({ user: 'ann', role: 'guest' })
})

test('of two new ids at once, the one that loses leaves the cookie of the other to the browser', async () => {
  const { before, owner, thief, open, take, isSignedIn } = await signedInTwice()
  // A user has a bound of sessions.
  await (await open(owner)).clear()
  const [won, lost] = [await open(thief), await open(thief)]
  before.end = () => won.rotate()
  await expect(lost.rotate()).rejects.toThrow(UnavailableError)
  take(thief, won)
  take(thief, lost)
  expect(await isSignedIn(thief)).toBe(true)
})

test('a change with the cookie from before a new id is refused, and leaves the new one to the browser', async () => {
  const { thief, open, take, isSignedIn } = await signedInTwice()
  const [rotated, slow] = [await open(thief), await open(thief)]
  await rotated.rotate()
  await expect(slow.set({ user: 'ann', role: 'admin' })).rejects.toThrow(UnavailableError)
  take(thief, rotated)
  take(thief, slow)
  expect(await isSignedIn(thief)).toBe(true)
  expect((await open(thief)).data).toEqual({ user: 'ann' })
})

test.each([
  ['data', (session: StoredSession<Signed>) => session.data],
  ['rotate', (session: StoredSession<Signed>) => session.rotate()],
  ['devices', (session: StoredSession<Signed>) => session.devices()],
  ['end', (session: StoredSession<Signed>) => session.end('any')],
  ['endOthers', (session: StoredSession<Signed>) => session.endOthers()],
] as const)('%s fails for a request that comes with the cookie from before a new id', async (_, use) => {
  const { owner, thief, open, take, isSignedIn } = await signedInTwice()
  const rotated = await open(thief)
  await rotated.rotate()
  const former = await open(thief)
  await expect((async () => use(former))()).rejects.toThrow(UnavailableError)
  take(thief, rotated)
  take(thief, former)
  expect([await isSignedIn(thief), await isSignedIn(owner)]).toEqual([true, true])
})

test('a change of a session that somebody else has replaced leaves the next cookie to the browser', async () => {
  const { thief, open, take } = await signedInTwice()
  const [next, slow] = [await open(thief), await open(thief)]
  await next.set({ user: 'bob' })
  await expect(slow.set({ user: 'ann', role: 'admin' })).rejects.toThrow(RefusalSignal)
  take(thief, next)
  take(thief, slow)
  expect((await open(thief)).data).toEqual({ user: 'bob' })
})
