import { loadTimes } from './load.ts'
import type { Measurement } from './measurement.ts'
import { residentBytes, startServer } from './server-process.ts'
import type { Contestant } from './server-process.ts'
import { median } from './statistics.ts'

const PATH = '/lab/bench/hello'
const MOST_RATIO = 1.3

/** How much a memory run does. */
interface MemoryOptions {
  /** Pairs of fresh processes. */
  readonly rounds: number
  /** Sent to each of them before it is looked at. */
  readonly requests: number
}

/** Resident memory of a process that has been at work, against the bare server's. */
export async function measureMemory(
  ours: Contestant,
  bare: Contestant,
  { rounds, requests }: MemoryOptions,
): Promise<Measurement> {
  const pairs: { ours: number; bare: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ ours: await residentAfter(ours, requests), bare: await residentAfter(bare, requests) })
  }
  const mebibytes = (values: readonly number[]): string => `${(median(values) / 2 ** 20).toFixed(0)} MiB`
  return {
    name: `resident memory, hello × ${requests.toLocaleString('en')}`,
    value: median(pairs.map((pair) => pair.ours / pair.bare)),
    unit: '×',
    gate: { bound: '≤', limit: MOST_RATIO },
    detail:
      `ours ${mebibytes(pairs.map((pair) => pair.ours))}, bare ${mebibytes(pairs.map((pair) => pair.bare))}; ` +
      `${rounds} rounds`,
  }
}

async function residentAfter(contestant: Contestant, requests: number): Promise<number> {
  await using server = await startServer(contestant, PATH)
  await loadTimes(`${server.origin}${PATH}`, requests)
  return residentBytes(server.pid)
}
