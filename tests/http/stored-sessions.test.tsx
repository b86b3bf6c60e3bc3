/** Sessions that are kept on the server: signing in, devices, ending from elsewhere, lifetimes, and hostile cookies. */
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { COOKIE, cookieOf, memberSite } from '../support/member-site.tsx'

describe('a session on the server', () => {
  test('is a cookie with a random id and nothing else, which the file does not hold', async () => {
    const { post, get, folder } = await memberSite()
    const answer = await post('signIn', 'ann')
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-session=[\w-]{43}; Max-Age=10800; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    const cookie = cookieOf(answer) ?? ''
    await get('/members/home', { cookie }).expect(200)
    const rows = new DatabaseSync(join(folder, 'sessions.sqlite')).prepare('SELECT * FROM sessions_entries').all()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
  })

  test('gets a new id for another user, and the one that was there before is worth nothing', async () => {
    const { get, signIn, layoutOf } = await memberSite()
    const planted = await signIn('mallory')
    const own = await signIn('ann', { cookie: planted })
    expect(own).not.toBe(planted)
    expect((await layoutOf({ cookie: own }))?.user).toBe('ann')
    await get('/members/home', { cookie: planted }).expect(401)
  })

  test('keeps its id and its age when its data changes, so that other requests of the visitor go through', async () => {
    const { post, signIn, layoutOf } = await memberSite()
    const cookie = await signIn('ann')
    const changed = await post('theme', 'dark', { cookie })
    expect(changed.headers['set-cookie']).toBeUndefined()
    expect(await layoutOf({ cookie })).toMatchObject({ user: 'ann', theme: 'dark' })
  })

  test('is refused where its data is too large or not of the schema, and stays as it was', async () => {
    const { post, signIn, layoutOf, logs } = await memberSite()
    const cookie = await signIn('ann')
    await post('theme', 'x'.repeat(101), { cookie }).expect(500)
    expect(JSON.stringify(logs)).toContain('maxDataBytes is 100')
    expect((await layoutOf({ cookie }))?.theme).toBe('plain')
  })
})

describe('the devices of a user', () => {
  test('are listed with their times, newest first, and the browser’s name is bounded', async () => {
    const { signIn, devices, clock } = await memberSite()
    const phone = await signIn('ann', { agent: `Phone ${'x'.repeat(5_000)}` })
    clock.ms += 120_000
    const laptop = await signIn('ann', { agent: 'Laptop <script>' })
    await signIn('bob')
    const listed = await devices(laptop)
    expect(listed).toMatchObject([
      { isCurrent: true, userAgent: 'Laptop <script>', startedAt: clock.ms, seenAt: clock.ms },
      { isCurrent: false, startedAt: clock.ms - 120_000 },
    ])
    expect(String(listed[1]?.['userAgent'])).toHaveLength(200)
    expect((await devices(phone)).map(({ isCurrent }) => isCurrent)).toEqual([false, true])
  })

  test('can be ended one by one, by their user alone', async () => {
    const { get, post, signIn, devices } = await memberSite()
    const [phone, laptop, bob] = [await signIn('ann'), await signIn('ann'), await signIn('bob')]
    const id = String((await devices(laptop)).find(({ isCurrent }) => isCurrent === false)?.['id'])
    await post('end', id, { cookie: bob })
    await get('/members/home', { cookie: phone }).expect(200)
    await post('end', id, { cookie: laptop })
    await get('/members/home', { cookie: phone }).expect(401)
    await get('/members/home', { cookie: laptop }).expect(200)
  })

  test('can all be ended but this one, or all without one of them', async () => {
    const { get, post, signIn } = await memberSite()
    const [one, two, three] = [await signIn('ann'), await signIn('ann'), await signIn('ann')]
    const bob = await signIn('bob')
    await post('endOthers', '', { cookie: two })
    for (const cookie of [one, three]) await get('/members/home', { cookie }).expect(401)
    await get('/members/home', { cookie: two }).expect(200)
    await post('endAll', 'ann')
    await get('/members/home', { cookie: two }).expect(401)
    await get('/members/home', { cookie: bob }).expect(200)
  })

  test('are no more than the bound: a further one ends the one that was seen least recently', async () => {
    const { get, signIn, clock } = await memberSite()
    const cookies: string[] = []
    for (let count = 0; count < 4; count += 1) {
      cookies.push(await signIn('ann'))
      clock.ms += 1_000
    }
    const statuses = await Promise.all(cookies.map(async (cookie) => (await get('/members/home', { cookie })).status))
    expect(statuses).toEqual([401, 200, 200, 200])
  })
})

describe('a session that was ended from elsewhere', () => {
  test('is over with the next document, data and action of each tab', async () => {
    const { call, get, post, data, signIn } = await memberSite()
    const cookie = await signIn('ann')
    const other = await signIn('ann')
    const before = (await data('/members/home', { cookie })).records[0]?.['sessions']
    expect(before).toMatch(/^session:[\w-]{10}\.[\w-]{10}$/)
    await post('endOthers', '', { cookie: other })

    const documentAnswer = await get('/members/home', { cookie }).expect(401)
    expect(documentAnswer.text).toContain('please sign in')
    // Both tabs drop what they hold: the document and the data name another session than before.
    expect(documentAnswer.text).toContain('"sessions":"session:-"')
    const tab = await data('/members/home', { cookie })
    expect([tab.status, tab.records[0]?.['sessions']]).toEqual([401, 'session:-'])
    const refused = await post('theme', 'dark', { cookie, on: '/members/home' }).expect(401)
    expect(refused.text).toContain('please sign in')
    const called = await call('theme', 'dark', { cookie, on: '/members/home' })
    expect([called.status, called.records[0]?.['sessions']]).toEqual([401, 'session:-'])
    expect(called.records).toContainEqual({ outcome: { kind: 'unauthorized', at: 0 } })
  })

  test('is ended on the server by signing out, so that a copy of the cookie is worth nothing', async () => {
    const { get, post, signIn } = await memberSite()
    const cookie = await signIn('ann')
    const answer = await post('signOut', '', { cookie }).expect(303)
    expect(answer.headers['set-cookie']).toEqual([expect.stringContaining(`${COOKIE}=; Max-Age=0`)])
    await get('/members/home', { cookie }).expect(401)
  })

  test('is left by a call with a document: the answer has no data, and loaders consume nothing for it', async () => {
    const { call, signIn } = await memberSite()
    const told = async (...asked: Parameters<typeof call>) => {
      const { records } = await call(...asked)
      return [records[0]?.['left'] ?? false, records.some(({ segment }) => segment === '/open#page')]
    }
    expect(await told('signIn', 'ann', {})).toEqual([false, true])
    expect(await told('rotate', '', { cookie: await signIn('ann') })).toEqual([false, true])
    expect(await told('theme', 'dark', { cookie: await signIn('ann') })).toEqual([false, true])
    expect(await told('signOut', '', { cookie: await signIn('ann') })).toEqual([true, false])
    expect(await told('signIn', 'bob', { cookie: await signIn('ann') })).toEqual([true, false])
    expect(await told('signOut', '', {})).toEqual([false, true])
  })

  test('is left by a call whose answer was lost, as by the first', async () => {
    const { call, signIn } = await memberSite()
    const cookie = await signIn('ann')
    const once = '4294967295-1234567890-1234567-3333333'
    const heads: unknown[] = []
    for (const each of [cookie, undefined]) {
      const { records } = await call('signOut', '', { ...(each !== undefined && { cookie: each }), once })
      heads.push([records[0]?.['sessions'], records[0]?.['left']])
    }
    expect(heads).toEqual([heads[0], heads[0]])
    expect(heads[0]).toEqual([expect.stringMatching(/:-$/), true])
  })
})

describe('the lifetime of a session', () => {
  test('ends an hour after the last request, and with requests after three', async () => {
    const { clock, get, signIn } = await memberSite()
    const idle = await signIn('ann')
    const used = await signIn('ann')
    for (let minutes = 50; minutes < 180; minutes += 50) {
      clock.ms += 50 * 60_000
      await get('/members/home', { cookie: used }).expect(200)
    }
    await get('/members/home', { cookie: idle }).expect(401)
    clock.ms += 30 * 60_000
    await get('/members/home', { cookie: used }).expect(401)
  })

  test('is not lengthened by prefetches, and is written at most once a minute', async () => {
    const { clock, data, devices, signIn } = await memberSite()
    const cookie = await signIn('ann')
    const startedAt = clock.ms
    clock.ms += 59_999
    await data('/members/home', { cookie })
    expect((await devices(cookie))[0]?.['seenAt']).toBe(startedAt)
    clock.ms += 60_000
    await data('/members/home', { cookie, prefetch: true })
    await data('/members/home', { cookie, prefetch: true })
    expect((await data('/members/home', { cookie, prefetch: true })).records).toContainEqual(
      expect.objectContaining({
        data: expect.objectContaining({ devices: [expect.objectContaining({ seenAt: startedAt })] }),
      }),
    )
    await data('/members/home', { cookie })
    expect((await devices(cookie))[0]?.['seenAt']).toBe(clock.ms)
  })

  test('and the file are not touched by pages that read no session', async () => {
    const { data, folder, get } = await memberSite()
    await get('/open', { cookie: `${COOKIE}=${'a'.repeat(43)}` }).expect(200)
    expect((await data('/open')).records[0]).not.toHaveProperty('sessions')
    expect(existsSync(join(folder, 'sessions.sqlite'))).toBe(false)
    // Nor by a visitor without a cookie, or with one that no server has made.
    for (const value of ['', 'short', 'a'.repeat(44), 'a'.repeat(42) + '%', 'v1.a.b']) {
      await get('/members/home', { cookie: `${COOKIE}=${value}` }).expect(401)
    }
    expect(existsSync(join(folder, 'sessions.sqlite'))).toBe(false)
  })
})

describe('without its store', () => {
  test('nobody is signed in and nothing is shown: 503, and pages without a session are served', async () => {
    const { data, get, post } = await memberSite({ REDIS_URL: 'redis://127.0.0.1:1', SECRET_KEYS: 'k'.repeat(32) })
    const cookie = `${COOKIE}=${'a'.repeat(43)}`
    const answer = await get('/members/home', { cookie }).expect(503)
    expect([answer.headers['retry-after'], answer.text]).toEqual(['5', expect.stringContaining('failed')])
    expect((await data('/members/home', { cookie })).status).toBe(503)
    await post('signIn', 'ann').expect(503)
    await post('theme', 'dark', { cookie, on: '/members/home' }).expect(503)
    await get('/open', { cookie }).expect(200)
    await get('/members/home').expect(401)
  })

  test('signing out fails and does not pretend that the session has ended', async () => {
    const { post } = await memberSite({ REDIS_URL: 'redis://127.0.0.1:1', SECRET_KEYS: 'k'.repeat(32) })
    // A visitor without a session has nothing to end.
    await post('signOut').expect(303)
    await post('signOut', '', { cookie: `${COOKIE}=${'a'.repeat(43)}` }).expect(503)
  })

  test('a file that cannot be opened is no session either, and the next request tries again', async () => {
    const { folder, get, signIn } = await memberSite()
    await mkdir(join(folder, 'sessions.sqlite'), { recursive: true })
    const cookie = `${COOKIE}=${'a'.repeat(43)}`
    await get('/members/home', { cookie }).expect(503)
    await rm(join(folder, 'sessions.sqlite'), { recursive: true })
    await get('/members/home', { cookie: await signIn('ann') }).expect(200)
  })
})

test.each([
  [{ name: 'a b' }, 'name "a b"'],
  [{ maxAgeSeconds: 0 }, 'maxAgeSeconds 0'],
  [{ idleSeconds: 1.5 }, 'idleSeconds 1.5'],
  [{ sessionsPerUser: 1_001 }, 'sessionsPerUser 1001'],
  [{ maxDataBytes: 0 }, 'maxDataBytes 0'],
])('the declaration %j is refused by name', (wrong, named) => {
  const options = { schema: z.object({ user: z.string() }), user: ({ user }: { user: string }) => user, ...wrong }
  expect(() => defineStoredSession(options)).toThrow(`defineStoredSession: ${named}`)
})
