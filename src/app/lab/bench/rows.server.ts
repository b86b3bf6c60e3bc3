import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { LoaderArgs } from 'millrace/server'
import { boundedInteger } from '../bounded-integer.server.ts'

/** `n`: how many rows. The upper bound keeps one request from occupying a core for seconds. */
export const search = z.object({ n: boundedInteger({ min: 1, max: 10_000, fallback: 1_000 }) })

type Search = z.output<typeof search>

/** One row of the table: two UUIDs. */
export interface Row {
  readonly id: string
  readonly name: string
}

/** Makes the rows of one request, as a query to a database would: later than now, and new each time. */
export async function loader({ search }: LoaderArgs<never, Search>): Promise<{ rows: Row[] }> {
  return { rows: await makeRows(search.n) }
}

async function makeRows(count: number): Promise<Row[]> {
  await Promise.resolve()
  return Array.from({ length: count }, () => ({ id: randomUUID(), name: randomUUID() }))
}
