import { z } from 'zod'
import type { LoaderArgs, VisitorArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'
import { shellTag } from './shell-tag.ts'

const STALE_SECONDS = 60
const MOST_CHARACTERS = 100

/** `s`: how many seconds the shell is fresh. */
export const search = z.object({ s: boundedInteger({ min: 1, max: 3_600, fallback: 5 }) })

type Search = z.output<typeof search>

/** Tells when it ran, in ms since the epoch: for all visitors at once. */
export function loader({ params: { key }, search: { s }, cache }: LoaderArgs<'/lab/shell/[key]', Search>) {
  cache({ lifetime: s, shared: { seconds: s, staleSeconds: STALE_SECONDS }, tags: [shellTag(key)] })
  return { renderedAt: Date.now(), seconds: s }
}

/** The name in the visitor's cookie. */
export function visitor({ context }: VisitorArgs<'/lab/shell/[key]', typeof loader>) {
  return { name: context.cookie('visitor')?.slice(0, MOST_CHARACTERS) ?? 'nobody' }
}
