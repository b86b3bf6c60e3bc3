import type { RateLimits } from '../stores/rate-limits.ts'
import { storeFault } from './store-fault.ts'

/**
 * Rate limits while their store is unavailable: every use fails with 503, as those of sessions do. An application that
 * limits attempts with a password must not let them all pass.
 * @param open opens the store on first use; a failure is tried again at the next one.
 */
export function limitAccess(open: () => RateLimits): RateLimits {
  return {
    async take(...given) {
      try {
        return await open().take(...given)
      } catch (cause) {
        if (cause instanceof RangeError) throw cause // a limit that the application has written wrongly
        throw storeFault('limits', cause)
      }
    },
  }
}
