import { z } from 'zod'
import { UnavailableError } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'
import { createAttemptCounter } from './attempt-counter.server.ts'

const MOST_KEYS = 1_000 // anybody may make keys up

const attemptsByKey = createAttemptCounter(MOST_KEYS)

/** `fail`: how many of the first requests for a key are refused. */
export const search = z.object({ fail: boundedInteger({ min: 0, max: 10, fallback: 0 }) })

type Search = z.output<typeof search>

/** Unavailable for the first `fail` requests for the key. Data is not kept by the browser: each visit is a request. */
export function loader({ params, search, cache }: LoaderArgs<'/lab/flaky/[key]', Search>) {
  cache({ lifetime: 'no-store' })
  const attempts = attemptsByKey.count(params.key)
  if (attempts <= search.fail) throw new UnavailableError('The lab loader was unavailable on purpose')
  return { attempts }
}
