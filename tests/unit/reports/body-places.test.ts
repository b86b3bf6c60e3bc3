import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createBodyPlaces, NoPlaceError, type BodyPlace } from '../../../src/server/reports/relay/body-places.ts'

const never = new AbortController().signal
const clock = (): number => Date.now()

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = { is: false }
  const settle = (): void => void (settled.is = true)
  promise.then(settle, settle)
  await vi.advanceTimersByTimeAsync(0)
  return settled.is
}

describe('places for large bodies', () => {
  test('are given in the order of coming, as they become free', async () => {
    const places = createBodyPlaces(2, 60_000, clock)
    const [first, second] = [await places.enter('a', never), await places.enter('b', never)]
    const order: string[] = []
    const enter = (client: string) => places.enter(client, never).then((place) => (order.push(client), place))
    const third = enter('c')
    const fourth = enter('d')
    expect(await isSettled(third)).toBe(false)
    first.leave()
    first.leave()
    await third
    expect(await isSettled(fourth)).toBe(false)
    second.leave()
    await fourth
    expect(order).toEqual(['c', 'd'])
  })

  test('are given to clients in turns, however many bodies one has waiting', async () => {
    const places = createBodyPlaces(2, 60_000, clock)
    const order: string[] = []
    const held: BodyPlace[] = [await places.enter('a', never), await places.enter('b', never)]
    for (const client of 'aaabbbc') {
      void places.enter(client, never).then((place) => (order.push(client), held.push(place)))
    }
    for (let left = 0; left < 4; left += 1) {
      held.shift()?.leave()
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(order.join('')).toBe('caba')
  })

  test('are not waited for by those that have gone', async () => {
    const places = createBodyPlaces(1, 60_000, clock)
    const place = await places.enter('a', never)
    const gone = new AbortController()
    const waiting = places.enter('b', gone.signal)
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(places.enter('b', gone.signal)).rejects.toThrow('gone')
    place.leave()
    await places.enter('c', never)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('are refused to those that have waited long enough', async () => {
    const places = createBodyPlaces(1, 1_000, clock)
    await places.enter('a', never)
    const refused = places.enter('b', never).catch((thrown: unknown) => thrown)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await refused).toBeInstanceOf(NoPlaceError)
  })

  test('are never all of one client: another finds one at once, however many bodies the first sends', async () => {
    const places = createBodyPlaces(3, 60_000, clock)
    const greedy = Array.from({ length: 10 }, () => places.enter('greedy', never))
    expect(await Promise.all(greedy.map(isSettled))).toEqual([true, true, ...Array<boolean>(8).fill(false)])
    expect(await isSettled(places.enter('honest', never))).toBe(true)
  })

  test('are given past a client that may have no more', async () => {
    const places = createBodyPlaces(3, 60_000, clock)
    const [first] = [await places.enter('greedy', never), await places.enter('greedy', never)]
    await places.enter('one', never)
    const more = places.enter('greedy', never)
    const other = places.enter('other', never)
    first.leave()
    expect(await isSettled(other)).toBe(true)
    expect(await isSettled(more)).toBe(false)
  })

  test('are taken back from the slowest of several clients that hold all, once another has waited for one', async () => {
    const places = createBodyPlaces(3, 10_000, clock)
    const holders: Record<string, BodyPlace> = {}
    for (const client of ['slow', 'slower', 'fast']) {
      const place = (holders[client] = await places.enter(client, never))
      place.signal.addEventListener('abort', () => place.leave())
    }
    holders['slow']?.received(300_000)
    holders['slower']?.received(270_000)
    holders['fast']?.received(9_000_000)
    const honest = places.enter('honest', never)
    await vi.advanceTimersByTimeAsync(4_000)
    // Five seconds are nobody's to take.
    expect(await isSettled(honest)).toBe(false)
    await vi.advanceTimersByTimeAsync(2_000)
    await honest
    expect(Object.entries(holders).map(([client, { signal }]) => [client, signal.aborted])).toEqual([
      ['slow', false],
      ['slower', true],
      ['fast', false],
    ])
    expect(holders['slower']?.signal.reason).toBeInstanceOf(NoPlaceError)
  })

  test('are not taken back for a client that has one already', async () => {
    const places = createBodyPlaces(2, 60_000, clock)
    const [one] = [await places.enter('one', never), await places.enter('two', never)]
    const more = places.enter('two', never)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(one.signal.aborted).toBe(false)
    expect(await isSettled(more)).toBe(false)
  })
})
