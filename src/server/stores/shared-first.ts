/**
 * What instances share, and what each has for itself while the shared store is away: nothing waits for it, and nothing
 * fails without it.
 */
import type { Logger } from 'pino'
import type { IdempotencyStore } from './idempotency-store.ts'
import { rateCells, type RateLimits } from './rate-limits.ts'
import { RedisGone } from './redis-link.ts'

/** Tells of errors that the shared store answers with, once until it has taken something again. */
export interface SharedStoreWatch {
  /** @returns what the shared store has answered; `undefined` where it cannot be used. */
  ask<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result } | undefined>
}

/** That it has gone is told by the connection. */
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

/** Limits that count on all instances together, and while the shared store is away on this one. */
export function sharedRateLimits(shared: RateLimits, own: RateLimits, watch: SharedStoreWatch): RateLimits {
  return {
    async take(key, limit, now, client) {
      rateCells(limit) // a wrong limit is the caller's fault
      const answer = await watch.ask(() => shared.take(key, limit, now, client))
      return answer === undefined ? own.take(key, limit, now, client) : answer.result
    },
  }
}

/**
 * Calls that run once on all instances together. They are noted here as well: most that are sent again come to the same
 * instance, and neither a loss of the shared store nor its return makes them run twice.
 * @param own throws where it cannot be written; then the shared store alone counts.
 */
export function sharedIdempotencyStore(
  shared: IdempotencyStore,
  own: IdempotencyStore,
  watch: SharedStoreWatch,
): IdempotencyStore {
  /** @returns what `work` does, unless the disk is full and the shared store has done its part. */
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
      const answer = await watch.ask(() => shared.begin(key, now, client))
      if (answer === undefined) {
        if ('thrown' in failure) throw failure.thrown
        return here
      }
      const there = answer.result
      // Begun here and unknown there: Redis has lost it, or was away.
      if (there.state === 'new') return here
      // Another instance has it: what it comes to is asked for there.
      if (here.state === 'new') await also(true, () => own.abandon(key))
      return there
    },
    async finish(key, result, now, client) {
      const answer = await watch.ask(() => shared.finish(key, result, now, client))
      await also(answer !== undefined, () => own.finish(key, result, now, client))
    },
    async abandon(key) {
      const answer = await watch.ask(() => shared.abandon(key))
      await also(answer !== undefined, () => own.abandon(key))
    },
  }
}
