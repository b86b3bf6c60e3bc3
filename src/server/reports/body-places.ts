/** Places for those who need much memory at once: the rest waits its turn, first come, first served. */
export interface BodyPlaces {
  /**
   * Waits for a place.
   * @param signal gives up waiting.
   * @returns leaves the place; a second call does nothing.
   * @throws the signal's reason.
   * @throws {NoPlaceError} where it takes too long.
   */
  enter(signal: AbortSignal): Promise<() => void>
}

/** Nobody has left in time; to be answered with 503. */
export class NoPlaceError extends Error {
  override readonly name = 'NoPlaceError'

  constructor() {
    super('Too many large bodies at once')
  }
}

/**
 * @param most places.
 * @param patienceMs how long one waits, in ms.
 */
export function createBodyPlaces(most: number, patienceMs: number): BodyPlaces {
  const waiting = new Set<() => void>()
  const taken = { count: 0 }

  function place(): () => void {
    taken.count += 1
    let left = false
    return () => {
      if (left) return
      left = true
      taken.count -= 1
      const [next] = waiting
      next?.()
    }
  }

  return {
    enter(signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error)
      if (taken.count < most) return Promise.resolve(place())
      return new Promise((resolve, reject) => {
        const settle = (done: () => void): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(come)
          done()
        }
        const come = (): void => settle(() => resolve(place()))
        const giveUp = (): void => settle(() => reject(signal.reason as Error))
        const timer = setTimeout(() => settle(() => reject(new NoPlaceError())), patienceMs)
        signal.addEventListener('abort', giveUp, { once: true })
        waiting.add(come)
      })
    },
  }
}
