import { expect, it } from 'vitest'
import { IDEMPOTENCY_LIFETIME_MS, type IdempotencyState } from '../../../src/server/stores/idempotency-store.ts'

type Awaitable<Value> = Value | Promise<Value>

/** An `IdempotencyStore`, or one behind a network. */
interface TestedIdempotencyStore {
  begin(key: string, now: number): Awaitable<IdempotencyState>
  finish(key: string, result: string, now: number): Awaitable<void>
  abandon(key: string): Awaitable<void>
}

const NOW = 1_800_000_000_000
const SECOND = 1_000

/**
 * What every `IdempotencyStore` must do.
 * @param open two handles on one empty store, as two processes have them.
 */
export function onceStoreContract(
  open: () => Awaitable<readonly [TestedIdempotencyStore, TestedIdempotencyStore]>,
): void {
  it('lets a call run once and gives its result to all that come later', async () => {
    const [store] = await open()
    expect(await store.begin('a', NOW)).toEqual({ state: 'new' })
    await store.finish('a', '{"ok":true}', NOW + SECOND)
    expect(await store.begin('a', NOW + 2 * SECOND)).toEqual({ state: 'done', result: '{"ok":true}' })
    expect(await store.begin('a', NOW + 3 * SECOND)).toEqual({ state: 'done', result: '{"ok":true}' })
  })

  it('tells a call that comes meanwhile that it is running, in another process too', async () => {
    const [store, other] = await open()
    await store.begin('a', NOW)
    expect(await store.begin('a', NOW)).toEqual({ state: 'running' })
    expect(await other.begin('a', NOW)).toEqual({ state: 'running' })
    await other.finish('a', 'done there', NOW)
    expect(await store.begin('a', NOW)).toEqual({ state: 'done', result: 'done there' })
  })

  it('lets a call run again that was abandoned', async () => {
    const [store] = await open()
    await store.begin('a', NOW)
    await store.abandon('a')
    expect(await store.begin('a', NOW)).toEqual({ state: 'new' })
  })

  it('keeps an empty result for a result', async () => {
    const [store] = await open()
    await store.begin('a', NOW)
    await store.finish('a', '', NOW)
    expect(await store.begin('a', NOW)).toEqual({ state: 'done', result: '' })
  })

  it('remembers for ten minutes after the end, and then no longer', async () => {
    const [store] = await open()
    await store.begin('a', NOW)
    const end = NOW + 30 * SECOND
    await store.finish('a', 'x', end)
    expect(await store.begin('a', end + IDEMPOTENCY_LIFETIME_MS - 1)).toEqual({ state: 'done', result: 'x' })
    expect(await store.begin('a', end + IDEMPOTENCY_LIFETIME_MS)).toEqual({ state: 'new' })
    expect(await store.begin('a', end + IDEMPOTENCY_LIFETIME_MS)).toEqual({ state: 'running' })
  })

  it('lets a call run again ten minutes after one that never ended', async () => {
    const [store] = await open()
    await store.begin('a', NOW)
    expect(await store.begin('a', NOW + IDEMPOTENCY_LIFETIME_MS - 1)).toEqual({ state: 'running' })
    expect(await store.begin('a', NOW + IDEMPOTENCY_LIFETIME_MS)).toEqual({ state: 'new' })
  })

  it('keeps the result of a call whose beginning is forgotten', async () => {
    const [store] = await open()
    await store.finish('a', 'late', NOW)
    expect(await store.begin('a', NOW)).toEqual({ state: 'done', result: 'late' })
  })

  it('does not take one key for another', async () => {
    const [store] = await open()
    const keys = [
      'a',
      'A',
      'a ',
      '#a',
      '=a',
      'é',
      'x'.repeat(10_000),
      `${'x'.repeat(9_999)}y`,
      "'; DROP TABLE once; --",
    ]
    for (const key of keys) {
      expect(await store.begin(key, NOW)).toEqual({ state: 'new' })
      await store.finish(key, `result of ${key}`, NOW)
    }
    for (const key of keys) expect(await store.begin(key, NOW)).toEqual({ state: 'done', result: `result of ${key}` })
  })
}
