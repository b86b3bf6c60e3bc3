/**
 * A load of visitors who leave: run by `leaks.ts` as a process of its own with origin, number of requests and seed.
 * Three in ten go away, half of them at a random moment of the wait and half at a random byte of the answer; the others
 * read to the end. Prints one JSON object.
 */
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { seededRandom } from '../../scripts/seeded-random.ts'

/** What the load saw. */
export interface AbortLoadResult {
  readonly finished: number
  readonly aborted: number
  /** By status, answers other than 200. */
  readonly refused: Readonly<Record<string, number>>
  /** Failures that were not our own aborts. */
  readonly failed: number
}

const CONNECTIONS = 16
const ABORTED_SHARE = 0.3
const LONGEST_WAIT_MS = 4 // about what an answer takes under this load
const FIRST_GUESS_BYTES = 2000
const ENCODINGS = ['zstd', 'br', 'gzip'] as const

/** Paths with their share; the expensive page seldom, so that a round takes minutes and not an hour. */
const MIX = [
  { path: '/lab/bench/hello', upTo: 0.6 },
  { path: '/lab/stream?delay=5', upTo: 0.9 },
  { path: '/lab/bench/table?n=1000', upTo: 1 },
] as const

const [origin = '', requests = '0', seed = '1'] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
/** Bytes of the last whole answer, by path and encoding. */
const sizes = new Map<string, number>()
const refused: Record<string, number> = {}
const totals = { sent: 0, finished: 0, aborted: 0, failed: 0 }

type Leaving = { readonly afterMs: number } | { readonly atByte: number }

/** Small answers often come whole before their visitor has gone: as many more try to leave as that takes. */
function drawLeaving(size: number): Leaving | undefined {
  if (totals.aborted >= ABORTED_SHARE * totals.sent) return undefined
  return random() < 0.5 ? { afterMs: random() * LONGEST_WAIT_MS } : { atByte: random() * size }
}

/** One visit; settles when it is over, however that came. */
function visit(path: string, encoding: string): Promise<void> {
  const kind = `${encoding} ${path}`
  const leaving = drawLeaving(sizes.get(kind) ?? FIRST_GUESS_BYTES)
  const atByte = leaving !== undefined && 'atByte' in leaving ? leaving.atByte : Number.POSITIVE_INFINITY
  return new Promise((over) => {
    const state = { left: false, whole: false }
    const outgoing = request(`${origin}${path}`, { agent, headers: { 'accept-encoding': encoding } })
    const leave = (): void => {
      state.left = true
      outgoing.destroy()
    }
    const timer = leaving !== undefined && 'afterMs' in leaving ? setTimeout(leave, leaving.afterMs) : undefined
    outgoing.on('response', (answer: IncomingMessage) => {
      const status = answer.statusCode ?? 0
      if (status !== 200) refused[status] = (refused[status] ?? 0) + 1
      let read = 0
      answer.on('data', (bytes: Buffer) => {
        read += bytes.length
        if (read >= atByte) leave()
      })
      answer.on('end', () => {
        state.whole = true
        sizes.set(kind, read)
      })
      answer.on('error', () => undefined) // told by `close` below
    })
    outgoing.on('error', () => undefined)
    outgoing.on('close', () => {
      clearTimeout(timer)
      if (state.whole) totals.finished += 1
      else if (state.left) totals.aborted += 1
      else totals.failed += 1
      over()
    })
    outgoing.end()
  })
}

async function visitor(): Promise<void> {
  while (totals.sent < Number(requests)) {
    const draw = random()
    const { path } = MIX.find(({ upTo }) => draw < upTo) ?? MIX[0]
    const encoding = ENCODINGS[totals.sent % ENCODINGS.length] ?? 'gzip'
    totals.sent += 1
    await visit(path, encoding)
  }
}

await Promise.all(Array.from({ length: CONNECTIONS }, visitor))
agent.destroy()
const { finished, aborted, failed } = totals
console.log(JSON.stringify({ finished, aborted, refused, failed } satisfies AbortLoadResult))
