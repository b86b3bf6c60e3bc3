import { expect, it } from 'vitest'
import type { RateLimit, RateLimitResult } from '../../../src/server/stores/rate-cells.ts'
type Awaitable<Value> = Value | Promise<Value>

/** `RateLimits`, or some behind a network. */
interface TestedRateLimits {
  take(key: string, limit: RateLimit, now: number, client?: string): Awaitable<RateLimitResult>
}

const NOW = 1_800_000_000_000
const ALLOWED = { allowed: true, retryAfterSeconds: 0 }
const refusedFor = (retryAfterSeconds: number) => ({ allowed: false, retryAfterSeconds })

/**
 * What all `RateLimits` must do.
 * @param open two handles on one empty store, as two processes have them.
 */
export function rateLimitsContract(open: () => Awaitable<readonly [TestedRateLimits, TestedRateLimits]>): void {
  const limit: RateLimit = { points: 3, seconds: 60 }

  it('allows as many calls at once as there are points, and says when the next may come', async () => {
    const [limits] = await open()
    for (const _ of [1, 2, 3]) expect(await limits.take('a', limit, NOW)).toEqual(ALLOWED)
    expect(await limits.take('a', limit, NOW)).toEqual(refusedFor(20))
    expect(await limits.take('a', limit, NOW + 19_001)).toEqual(refusedFor(1))
    expect(await limits.take('a', limit, NOW + 20_000)).toEqual(ALLOWED)
    expect(await limits.take('a', limit, NOW + 20_000)).toEqual(refusedFor(20))
  })

  it('takes nothing for a call that is refused', async () => {
    const [limits] = await open()
    for (const _ of [1, 2, 3]) await limits.take('a', limit, NOW)
    for (let call = 0; call < 50; call += 1) await limits.take('a', limit, NOW + 10_000)
    expect(await limits.take('a', limit, NOW + 20_000)).toEqual(ALLOWED)
  })

  it('never lets more through in any stretch of that length than twice the points', async () => {
    const [limits] = await open()
    let allowed = 0
    for (let ms = 0; ms <= 60_000; ms += 500) if ((await limits.take('a', limit, NOW + ms)).allowed) allowed += 1
    expect(allowed).toBe(6)
  })

  it('gives all points back after the time', async () => {
    const [limits] = await open()
    for (const _ of [1, 2, 3]) await limits.take('a', limit, NOW)
    for (const _ of [1, 2, 3]) expect(await limits.take('a', limit, NOW + 60_000)).toEqual(ALLOWED)
    expect((await limits.take('a', limit, NOW + 60_000)).allowed).toBe(false)
  })

  it('counts each key by itself, and one key over all processes', async () => {
    const [limits, other] = await open()
    for (const _ of [1, 2]) await limits.take('a', limit, NOW)
    expect(await other.take('a', limit, NOW)).toEqual(ALLOWED)
    expect((await limits.take('a', limit, NOW)).allowed).toBe(false)
    expect(await limits.take('b', limit, NOW)).toEqual(ALLOWED)
  })

  it('counts one key by each limit by itself: a shorter one does not bring a longer one back', async () => {
    const [limits] = await open()
    const long: RateLimit = { points: 3, seconds: 3_600 }
    for (const _ of [1, 2, 3]) await limits.take('a', long, NOW)
    for (const _ of [1, 2, 3]) expect(await limits.take('a', limit, NOW)).toEqual(ALLOWED)
    await limits.take('a', limit, NOW)
    expect((await limits.take('a', long, NOW)).allowed).toBe(false)
  })

  it.each([1, 7, 30, 999])('allows exactly %i calls where the points do not divide the time', async (points) => {
    const [limits] = await open()
    let allowed = 0
    for (let call = 0; call < points + 5; call += 1) {
      if ((await limits.take('a', { points, seconds: 60 }, NOW + 0.25)).allowed) allowed += 1
    }
    expect(allowed).toBe(points)
  })

  it.each([1, 3_000, 15_000, 60_000])('gives nothing back to instances whose clocks are %i ms apart', async (apart) => {
    const [behind, ahead] = await open()
    const often: RateLimit = { points: 60, seconds: 60 }
    let allowed = 0
    for (let call = 0; call < 150; call += 1) {
      if ((await behind.take('a', often, NOW + call)).allowed) allowed += 1
      if ((await ahead.take('a', often, NOW + apart + call)).allowed) allowed += 1
    }
    // The points that are back by the other clock.
    expect(allowed).toBeLessThanOrEqual(60 + apart / 1_000 + 1)
  })

  it('locks nobody out when the clock is set back', async () => {
    const [limits] = await open()
    const year = 31_536_000_000
    for (const _ of [1, 2, 3]) await limits.take('a', limit, NOW + year)
    expect(await limits.take('a', limit, NOW)).toEqual(refusedFor(20))
    expect(await limits.take('a', limit, NOW + 20_000)).toEqual(ALLOWED)
    expect(await limits.take('a', limit, NOW + 20_000)).toEqual(refusedFor(20))
  })

  it.each([
    { points: 0, seconds: 60 },
    { points: 1.5, seconds: 60 },
    { points: 3, seconds: 0 },
    { points: 3, seconds: Number.POSITIVE_INFINITY },
    { points: Number.NaN, seconds: 60 },
  ])('refuses the limit $points in $seconds seconds', async (wrong) => {
    const [limits] = await open()
    await expect((async () => limits.take('a', wrong, NOW))()).rejects.toThrow(RangeError)
  })
}

/** Two clients, as `clientKey` names them. */
const HONEST = '203.0.113.9'
const GREEDY = '198.51.100.7'

/**
 * What all `RateLimits` must do for one client while another makes keys without end.
 * @param open an empty store that keeps so few keys, or so few of one client.
 */
export function crowdedRateLimitsContract(open: (keys: number) => Awaitable<TestedRateLimits>): void {
  const once: RateLimit = { points: 1, seconds: 3_600 }

  it('forgets no key of the client that has too many, and none of others', async () => {
    const limits = await open(10)
    for (const key of ['a', 'b', 'c']) await limits.take(key, once, NOW, HONEST)
    for (let key = 0; key < 50; key += 1) await limits.take(`greedy ${key}`, once, NOW + key, GREEDY)
    const allowed = async (key: string, client: string): Promise<boolean> =>
      (await limits.take(key, once, NOW + 60, client)).allowed
    for (const key of ['a', 'b', 'c']) expect(await allowed(key, HONEST)).toBe(false)
    for (const key of ['greedy 0', 'greedy 3', 'greedy 49', 'greedy 50']) expect(await allowed(key, GREEDY)).toBe(false)
    for (const key of ['d', 'greedy 51']) expect(await allowed(key, HONEST)).toBe(true)
  })

  const guess: RateLimit = { points: 10, seconds: 900 }
  const day: RateLimit = { points: 1, seconds: 86_400 }

  it.each([
    { clients: [GREEDY], most: 10 },
    { clients: [GREEDY, '198.51.100.8'], most: 20 },
    { clients: [GREEDY, '198.51.100.8', '198.51.100.9', '198.51.100.10'], most: 20 },
  ])('frees no client of a limit by keys that last longer: $clients', async ({ clients, most }) => {
    const limits = await open(200)
    let allowed = 0
    const guesses = async (now: number): Promise<void> => {
      for (const client of clients) {
        for (let call = 0; call < 40; call += 1) {
          if ((await limits.take('password of ann', guess, now, client)).allowed) allowed += 1
        }
      }
    }
    await guesses(NOW)
    for (let round = 0; round < 5; round += 1) {
      for (let key = 0; key < 300; key += 1) {
        for (const client of clients) await limits.take(`${client} ${round} ${key}`, day, NOW + round, client)
      }
      await guesses(NOW + round)
    }
    expect(allowed).toBeGreaterThanOrEqual(10)
    expect(allowed).toBeLessThanOrEqual(most * clients.length)
    expect((await limits.take('password of bob', guess, NOW + 9, HONEST)).allowed).toBe(true)
  })

  it('locks out nobody behind the address of a client that has too many keys, as long as it has not used up its limits', async () => {
    const limits = await open(10)
    for (let key = 0; key < 50; key += 1) await limits.take(`news ${key}`, day, NOW, GREEDY)
    for (let call = 0; call < guess.points; call += 1) {
      expect((await limits.take('password of ann', guess, NOW, GREEDY)).allowed).toBe(true)
    }
    expect((await limits.take('password of ann', guess, NOW, GREEDY)).allowed).toBe(false)
    expect((await limits.take('password of ann', guess, NOW + 90_000, GREEDY)).allowed).toBe(true)
  })

  it('counts each key by itself again when there is room', async () => {
    const limits = await open(10)
    for (let key = 0; key < 50; key += 1) await limits.take(`news ${key}`, day, NOW, GREEDY)
    const later = NOW + 86_400_000
    for (const key of ['a', 'b', 'c']) {
      expect((await limits.take(key, once, later, GREEDY)).allowed).toBe(true)
      expect((await limits.take(key, once, later, GREEDY)).allowed).toBe(false)
    }
  })

  it('counts a key for the client that has begun it: no other can push it out by using it', async () => {
    const limits = await open(10)
    const twice: RateLimit = { points: 2, seconds: 3_600 }
    await limits.take('shared', twice, NOW, HONEST)
    await limits.take('shared', twice, NOW, GREEDY)
    for (let key = 0; key < 50; key += 1) await limits.take(`greedy ${key}`, once, NOW + key, GREEDY)
    expect((await limits.take('shared', twice, NOW + 60, HONEST)).allowed).toBe(false)
  })
}
