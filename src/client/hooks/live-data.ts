/**
 * Reloads what is on screen when event streams tell that it was dropped. One for a tab, whatever it listens to.
 *
 * | state   | a drop                                                                     | when its time is over                |
 * |---------|----------------------------------------------------------------------------|--------------------------------------|
 * | idle    | waits for a random part of the time over which the server spreads requests | reloads, and rests                   |
 * | waiting | is added                                                                   |                                      |
 * | resting | is added                                                                   | idle, unless something older is shown |
 *
 * The rest is as long as that time: a tab makes one request in it. Cached data is dropped at once, so that a click loads
 * it. While a call, a navigation or a reload of this tab may bring the data, it is waited for. A hidden tab loads nothing:
 * its streams tell everything again when it is shown. A reload that fails is tried again after 5, 10 and 20 s.
 */
import type { DropsMessage } from '../../shared/protocol/drops-event.ts'
import type { LiveRouter } from '../react/router-types.ts'

/** Time, chance and the browser, for tests. */
interface LiveDataWorld {
  readonly document: Pick<Document, 'visibilityState'>
  /** Calls back after some ms. */
  readonly after: (ms: number, run: () => void) => unknown
  /** From 0 to 1. */
  readonly random: () => number
}

const LOOK_AGAIN_MS = 50
const MOST_LOOKS = 40 // 2 s: a call that takes longer has other reasons
const RETRY_MS = 5_000
const MOST_RETRIES = 3

/** Starts idle. @returns takes what a stream tells. */
export function createLiveData(world: LiveDataWorld): (router: Partial<LiveRouter>, message: DropsMessage) => void {
  const { after, random } = world
  const pending = new Map<string, number>()
  let isWaiting = false
  let looks = 0
  /** Reloads since the last drop. */
  let reloads = 0

  function wait(ms: number, router: Partial<LiveRouter>, spread: number, isRetry = false): void {
    isWaiting = true
    after(ms, () => void look(router, spread, isRetry))
  }

  /** Drops what is pending. What is older on screen stays pending. */
  function drop(router: Partial<LiveRouter>): void {
    for (const [target, at] of pending) if (router.drop?.([target], at) === false) pending.delete(target)
  }

  async function look(router: Partial<LiveRouter>, spread: number, isRetry: boolean): Promise<void> {
    if (router.isBusy?.() !== false && (looks += 1) <= MOST_LOOKS) return wait(LOOK_AGAIN_MS, router, spread, isRetry)
    looks = 0
    drop(router)
    isWaiting = false
    if (world.document.visibilityState === 'hidden' || pending.size === 0) return
    if (reloads > MOST_RETRIES) return pending.clear()
    if (reloads > 0 && !isRetry) return wait(RETRY_MS * 2 ** (reloads - 1), router, spread, true)
    reloads += 1
    isWaiting = true
    await router.catchUp?.()
    wait(spread, router, spread)
  }

  return (router, { targets, spread }) => {
    for (const [target, at] of Object.entries(targets)) pending.set(target, Math.max(at, pending.get(target) ?? 0))
    reloads = 0
    // Not what the answer of a call may have brought.
    if (router.isBusy?.() === false) drop(router)
    if (!isWaiting && pending.size > 0) wait(random() * spread, router, spread)
  }
}
