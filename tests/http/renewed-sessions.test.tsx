/** Sessions on the server that get a new id. */
import { describe, expect, test } from 'vitest'
import { cookieOf, memberSite } from '../support/member-site.tsx'

describe('a session on the server', () => {
  test('gets a new id by rotate() and keeps its data and age; of two at once, one is to try again', async () => {
    const { post, signIn, layoutOf, clock } = await memberSite()
    const cookie = await signIn('ann')
    clock.ms += 600_000
    const answers = await Promise.all([post('rotate', '', { cookie }), post('rotate', '', { cookie })])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 503])
    const rotated = answers.find(({ status }) => status === 303)
    expect(rotated?.headers['set-cookie']?.[0]).toContain('Max-Age=10200;')
    expect((await layoutOf({ cookie: cookieOf(rotated as never) }))?.user).toBe('ann')
  })

  test('opens nothing with the cookie from before rotate(), which is to try again for ten seconds', async () => {
    const { post, get, signIn, clock, logs } = await memberSite()
    const cookie = await signIn('ann')
    await post('rotate', '', { cookie }).expect(303)
    const retries: unknown[] = []
    for (const passed of [0, 1_000, 2_000, 6_999]) {
      clock.ms += passed
      const answer = await get('/members/home', { cookie }).expect(503)
      expect(answer.text).not.toContain('ann')
      expect(answer.headers['set-cookie']).toBeUndefined()
      retries.push(Number(answer.headers['retry-after']))
    }
    expect(retries).toEqual([1, 2, 7, 1])
    clock.ms += 1
    await get('/members/home', { cookie }).expect(401)
    expect(JSON.stringify(logs)).toContain('The session has just got a new id')
    expect(JSON.stringify(logs)).not.toContain('uncaught failure')
  })

  test('that has ended since it got a new id is none, at once', async () => {
    const { post, get, signIn } = await memberSite()
    const cookie = await signIn('ann')
    const rotated = await post('rotate', '', { cookie }).expect(303)
    await post('signOut', '', { cookie: cookieOf(rotated as never) })
    await get('/members/home', { cookie }).expect(401)
  })

  test('whose answer to a rotating call is lost gets its new cookie when the call is repeated, on a guarded page too', async () => {
    const { call, signIn, layoutOf } = await memberSite()
    const cookie = await signIn('ann')
    const sent = { cookie, on: '/members/home', once: '1111111111-2222222222-3333333333-4444444444' }
    const lost = await call('rotate', '', sent)
    expect(lost.status).toBe(200)
    const repeated = await call('rotate', '', sent)
    expect(repeated.status).toBe(200)
    expect(cookieOf(repeated)).toBe(cookieOf(lost))
    expect((await layoutOf({ cookie: cookieOf(repeated) }))?.user).toBe('ann')
  })

  test('runs no other call for its former cookie', async () => {
    const { call, signIn, layoutOf } = await memberSite()
    const cookie = await signIn('ann')
    const on = '/members/home'
    const rotated = await call('rotate', '', { cookie, on, once: '1111111111-2222222222-3333333333-4444444444' })
    const once = '1111111111-2222222222-3333333333-5555555555'
    for (const _ of ['first', 'again']) {
      const refused = await call('theme', 'dark', { cookie, on, once })
      expect([refused.status, refused.headers['retry-after'], cookieOf(refused)]).toEqual([503, '1', undefined])
      expect(JSON.stringify(refused.records)).not.toContain('ann')
    }
    const current = cookieOf(rotated)
    expect((await layoutOf({ cookie: current }))?.theme).toBe('plain')
    // Nothing is kept of the refusals.
    expect((await call('theme', 'dark', { cookie: current, on, once })).status).toBe(200)
    expect((await layoutOf({ cookie: current }))?.theme).toBe('dark')
  })

  test('and a form of a document that is sent again gets it too', async () => {
    const { post, signIn } = await memberSite()
    const cookie = await signIn('ann')
    const sent = { cookie, on: '/members/home', once: 'a'.repeat(24) }
    const lost = await post('rotate', '', sent).expect(303)
    const repeated = await post('rotate', '', sent).expect(303)
    expect(cookieOf(repeated as never)).toBe(cookieOf(lost as never))
    await post('rotate', '', { ...sent, once: 'b'.repeat(24) }).expect(503)
  })

  test('stops an action without a guard that asks whose it is, and the router is not told that it has run', async () => {
    const { call, signIn } = await memberSite()
    const cookie = await signIn('ann')
    await call('rotate', '', { cookie })
    const refused = await call('theme', 'dark', { cookie })
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(refused.records.filter(({ segment }) => segment === '#action')).toEqual([])
  })
})
