import { join } from 'node:path'
import type { AbortLoadResult } from './abort-load.ts'
import { openInspector } from './inspector.ts'
import type { HeapFigures } from './inspector.ts'
import { outputOf } from './load.ts'
import type { Measurement } from './measurement.ts'
import { openDescriptors, startServer } from './server-process.ts'
import type { Contestant } from './server-process.ts'
import { slope } from './statistics.ts'

/** How long the search for leaks takes. */
interface LeakOptions {
  readonly rounds: number
  /** Of one round. */
  readonly requests: number
}

const WARM_UP_ROUNDS = 2 // caches and compiled code fill up here; growth counts from then on
const MOST_BYTES_PER_REQUEST = 1000
const MOST_DESCRIPTORS_PER_REQUEST = 0.001

/** What one round left behind. */
interface RoundFigures extends HeapFigures {
  /** Requests since the start. */
  readonly requests: number
  readonly descriptors: number
}

const FIGURES = ['heapUsed', 'external', 'arrayBuffers', 'rss'] as const

/**
 * Growth per request under a load in which three in ten leave early, compression on, garbage collected between rounds.
 * @throws {Error} when the load was not answered, or there are too few rounds to see a slope.
 */
export async function measureLeaks(ours: Contestant, { rounds, requests }: LeakOptions): Promise<Measurement[]> {
  if (rounds < WARM_UP_ROUNDS + 2) throw new Error(`Leaks need at least ${WARM_UP_ROUNDS + 2} rounds.`)
  await using server = await startServer(ours, '/lab/bench/hello', { inspect: true })
  if (server.inspector === undefined) throw new Error('The server opened no inspector.')
  using inspector = await openInspector(server.inspector)

  const figures: RoundFigures[] = []
  let aborted = 0
  for (let round = 1; round <= rounds; round += 1) {
    const result = await runLoad(server.origin, requests, round)
    aborted += result.aborted
    const memory = await inspector.settledMemory()
    figures.push({ ...memory, requests: round * requests, descriptors: await openDescriptors(server.pid) })
    console.log(`      round ${round}: ${FIGURES.map((name) => `${name} ${mebibytes(memory[name])}`).join(', ')}`)
  }
  const counted = figures.slice(WARM_UP_ROUNDS)
  const growth = (figure: (round: RoundFigures) => number): number =>
    slope(counted.map((round) => ({ x: round.requests, y: figure(round) })))
  const detail = (first: string, last: string): string =>
    `${first} to ${last}; ${rounds} rounds × ${requests.toLocaleString('en')}, ${aborted.toLocaleString('en')} aborted`
  const first = counted[0]
  const last = counted.at(-1)
  if (first === undefined || last === undefined) throw new Error('No rounds were measured.')
  return [
    ...FIGURES.map((name): Measurement => ({
      name: `growth, ${name}`,
      value: growth((round) => round[name]),
      unit: 'B/request',
      // Resident memory also moves with the allocator's habits: it is shown, and not judged.
      ...(name === 'rss' ? {} : { gate: { bound: '<', limit: MOST_BYTES_PER_REQUEST } }),
      detail: detail(mebibytes(first[name]), mebibytes(last[name])),
    })),
    {
      name: 'growth, file descriptors',
      value: growth((round) => round.descriptors),
      unit: '/request',
      gate: { bound: '<', limit: MOST_DESCRIPTORS_PER_REQUEST },
      detail: detail(String(first.descriptors), String(last.descriptors)),
    },
  ]
}

async function runLoad(origin: string, requests: number, seed: number): Promise<AbortLoadResult> {
  const program = join(import.meta.dirname, 'abort-load.ts')
  const text = await outputOf(process.execPath, [program, origin, String(requests), String(seed)])
  const result = JSON.parse(text) as AbortLoadResult
  if (result.failed > 0 || Object.keys(result.refused).length > 0) {
    throw new Error(`The load was not answered: ${text.trim()}`)
  }
  return result
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
