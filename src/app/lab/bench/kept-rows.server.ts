import { hash } from 'node:crypto'
import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'
import type { Row } from './rows.server.ts'

/** As in `rows.server.ts`. */
export const search = z.object({ n: boundedInteger({ min: 1, max: 10_000, fallback: 1_000 }) })

type Search = z.output<typeof search>

/** Makes rows that are the same each time, for a document that is kept. */
export async function loader({ search: { n }, cache }: LoaderArgs<never, Search>): Promise<{ rows: Row[] }> {
  cache({ shared: { seconds: 3_600 } })
  await Promise.resolve()
  return {
    rows: Array.from({ length: n }, (_, at) => ({ id: seededUuid(`id ${at}`), name: seededUuid(`name ${at}`) })),
  }
}

/** As random ones have it: version 4. */
function seededUuid(seed: string): string {
  const [, ...groups] = /^(.{8})(.{4})(.{3})(.{3})(.{12})/.exec(hash('sha256', seed, 'hex')) ?? []
  const [start, second, third, fourth, end] = groups
  return `${start}-${second}-4${third}-8${fourth}-${end}`
}
