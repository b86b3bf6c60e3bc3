/**
 * Uses the shared store, and this instance's own store while the shared one is unreachable: nothing waits for it, and
 * nothing fails without it.
 */
import type { Logger } from 'pino'
import type { IdempotencyStore } from './idempotency-store.ts'
import { OwedEnds, type CallEnd } from './owed-ends.ts'
import { rateCells } from './rate-cells.ts'
import type { RateLimits } from './rate-limits.ts'
import { RedisGone } from './redis-link.ts'

/** Logs errors of the shared store, once until it succeeds again. */
interface SharedStoreWatch {
  /** @returns the shared store's answer; `undefined` if it cannot be used. */
  ask<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result } | undefined>
}

/** The connection itself logs its loss. */
export function watchSharedStore(log: Pick<Logger, 'error'>): SharedStoreWatch {
  const complained = { once: false }
  return {
    async ask(work) {
      try {
        const result = await work()
        complained.once = false
        return { result }
      } catch (thrown) {
        if (!(thrown instanceof RedisGone) && !complained.once) {
          complained.once = true
          const err = thrown instanceof Error ? { type: thrown.name, message: thrown.message } : { message: 'unknown' }
          log.error({ err }, 'the shared store refuses what it is asked')
        }
        return undefined
      }
    },
  }
}

/** Limits counted across all instances; on this one alone while the shared store is unreachable. */
export function sharedRateLimits(shared: RateLimits, own: RateLimits, watch: SharedStoreWatch): RateLimits {
  return {
    async take(key, limit, now, client) {
      rateCells(limit) // an invalid limit is the caller's fault
      const answer = await watch.ask(() => shared.take(key, limit, now, client))
      return answer === undefined ? own.take(key, limit, now, client) : answer.result
    },
  }
}

/**
 * Calls that run once across all instances. They are also recorded here: most repeated calls reach the same instance,
 * and neither the loss nor the return of the shared store makes them run twice.
 * @param own throws if it cannot be written; then only the shared store counts.
 */
export function sharedIdempotencyStore(
  shared: IdempotencyStore,
  own: IdempotencyStore,
  watch: SharedStoreWatch,
): IdempotencyStore {
  const owed = new OwedEnds(shared)
  const send = (end: CallEnd) => watch.ask(() => owed.send(end))

  /** @returns the result of `work`; a full disk is ignored if the shared store has done its part. */
  async function also(answered: boolean, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      if (!answered) throw thrown
    }
  }

  return {
    async begin(key, now, client) {
      const failure: { thrown?: unknown } = {}
      const here = await own.begin(key, now, client).catch((thrown: unknown) => {
        failure.thrown = thrown
        return { state: 'new' } as const
      })
      if (here.state === 'done') return here
      // Otherwise the shared store would take it for running. The first payment may have begun before the store was back.
      for (let tries = 0; tries < 2 && owed.has(key); tries += 1) await owed.pay()
      const answer = await watch.ask(() => shared.begin(key, now, client))
      if (answer === undefined) {
        if ('thrown' in failure) throw failure.thrown
        return here
      }
      const there = answer.result
      // Started here but unknown there: Redis has lost it, or was unreachable.
      if (there.state === 'new') return here
      // Another instance runs it: ask the shared store for its result.
      if (here.state === 'new') await also(true, () => own.abandon(key))
      return there
    },
    async has(key, now) {
      const here = await own.has(key, now).catch(() => false)
      return here || (await watch.ask(() => shared.has(key, now)))?.result === true
    },
    async finish(key, result, now, client) {
      const answer = await send({ key, result: { text: result, now, client } })
      await also(answer !== undefined, () => own.finish(key, result, now, client))
    },
    async abandon(key) {
      const answer = await send({ key })
      await also(answer !== undefined, () => own.abandon(key))
    },
  }
}
