import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { bundleBareServer } from './bundle.ts'
import { openInspector } from './inspector.ts'
import type { Measurement } from './measurement.ts'
import { startServer } from './server-process.ts'
import type { Contestant, RunningServer } from './server-process.ts'
import { median } from './statistics.ts'
import { run } from './throughput.ts'
import type { AskedPage, Run, ThroughputOptions } from './throughput.ts'
import { mainOf } from './workloads.ts'
import type { Workload } from './workloads.ts'

const LEAST_OF_BARE = 0.85
const LEAST_OF_PEER = 5
const STRANGERS = 1_000
const RANDOM_REQUESTS = 10_000
const CONNECTIONS = 50 // of the random requests
const MOST_KEPT_BYTES = 16_777_216 // the bound of `document-cache.ts`

/** Headers that each answer has for itself. */
const OF_ONE_ANSWER = new Set(['date', 'connection', 'keep-alive'])

/** One answer as it was sent. */
interface Answer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** A kept page beside an Express server that ends the same bytes with the same headers, by CPU time. */
export async function measureKept(
  ours: Contestant,
  folder: string,
  workload: Workload,
  options: ThroughputOptions,
): Promise<Measurement> {
  const path = keptPath(workload)
  await using ourServer = await startServer(ours, path)
  const kept = await keptAnswer(ourServer, workload)
  const file = join(folder, `kept-${workload.name}.json`)
  await writeFile(file, JSON.stringify({ headers: kept.headers, body: kept.body.toString('base64') }))
  const entry = await bundleBareServer(folder, 'bare-kept.ts')
  const bare: Contestant = { name: 'bare Buffer', entry, env: { ANSWER: file } }
  await using bareServer = await startServer(bare, path)
  const ending = await ask(bareServer.origin, path)
  if (!ending.body.equals(kept.body)) throw new Error(`${path}: the bare server ends other bytes.`)
  const { value, detail } = await byCpu(ourServer, bareServer, { path }, options)
  return {
    name: `kept, ${workload.name}`,
    value,
    unit: '×',
    gate: { bound: '≥', limit: LEAST_OF_BARE },
    detail: `by CPU time; ${kept.body.length.toLocaleString('en')} B; ${detail}`,
  }
}

/** A kept page beside a peer that serves the same page from its own cache, by CPU time. */
export async function measureKeptPeer(
  ours: Contestant,
  peer: Contestant,
  workload: Workload,
  options: ThroughputOptions,
): Promise<Measurement> {
  const path = keptPath(workload)
  await using ourServer = await startServer(ours, path)
  await keptAnswer(ourServer, workload)
  await using peerServer = await startServer(peer, path)
  const [first, second] = [await ask(peerServer.origin, path), await ask(peerServer.origin, path)]
  const fault = workload.fault(mainOf(second.body.toString()))
  if (fault !== undefined) throw new Error(`${peer.name}, ${path}: ${fault}`)
  if (!first.body.equals(second.body)) throw new Error(`${peer.name}, ${path}: not from a cache.`)
  const { value, detail } = await byCpu(ourServer, peerServer, { path }, options)
  const gate = { bound: '≥', limit: LEAST_OF_PEER } as const
  return {
    name: `kept, ${workload.name}, beside ${peer.name}`,
    value,
    unit: '×',
    gate,
    detail: `by CPU time; ${detail}`,
  }
}

/** How often a page is rendered for a thousand who ask for it at once, while it is missing. */
export async function measureStrangers(ours: Contestant): Promise<Measurement> {
  await using server = await startServer(ours, '/lab/bench/hello')
  using connections = disposable(new Agent({ maxSockets: STRANGERS, keepAlive: true }))
  const path = '/lab/kept/strangers?s=3600'
  const answers = await Promise.all(
    Array.from({ length: STRANGERS }, (_, at) =>
      ask(server.origin, path, { Cookie: `stranger=${at}` }, connections.agent),
    ),
  )
  const refused = answers.filter(({ status }) => status !== 200).length
  const shown = answers.map(({ body }) => /data-testid="rendered-at"[^>]*>(\d+)/.exec(body.toString())?.[1])
  const renders = new Set(shown.filter((moment) => moment !== undefined)).size
  if (renders === 0) throw new Error(`${path}: no moment in the answer.`)
  return {
    name: 'kept, a thousand strangers at once',
    value: renders + refused,
    unit: 'renders',
    gate: { bound: '≤', limit: 1 },
    detail: `${renders} render of the missing page, ${refused} refused`,
  }
}

/** What ten thousand requests with random queries, cookies and hosts leave behind. */
export async function measureKeptMemory(ours: Contestant): Promise<Measurement> {
  const path = '/lab/bench/kept/hello'
  await using server = await startServer(ours, path, { inspect: true })
  if (server.inspector === undefined) throw new Error('The server opened no inspector.')
  using inspector = await openInspector(server.inspector)
  using connections = disposable(new Agent({ maxSockets: CONNECTIONS, keepAlive: true }))
  const send = async (requests: number): Promise<number> => {
    const statuses = new Map<number, number>()
    const visitor = async (): Promise<void> => {
      for (let sent = 0; sent < requests / CONNECTIONS; sent += 1) {
        const random = randomBytes(8).toString('hex')
        const headers = { Host: `${random}.example`, Cookie: `${random}=${random}` }
        const { status } = await ask(
          server.origin,
          `${path}?${random}=${random}&n=${random}`,
          headers,
          connections.agent,
        )
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, visitor))
    const { 200: answered = 0 } = Object.fromEntries(statuses)
    if (answered === 0) throw new Error(`${path}: nobody was answered: ${JSON.stringify([...statuses])}`)
    return answered
  }
  // Compiled code and connections.
  await send(CONNECTIONS)
  const before = await inspector.settledMemory()
  const answered = await send(RANDOM_REQUESTS)
  const after = await inspector.settledMemory()
  const bytes = ({ heapUsed, arrayBuffers }: typeof after): number => heapUsed + arrayBuffers
  return {
    name: 'kept, random queries, cookies and hosts',
    value: bytes(after) - bytes(before),
    unit: 'B',
    gate: { bound: '≤', limit: MOST_KEPT_BYTES },
    detail: `more memory in use after ${answered.toLocaleString('en')} answers`,
  }
}

/** The page of a workload that is kept, or kept with a slot. */
export function keptPath({ path }: Workload, kind: 'kept' | 'shell' = 'kept'): string {
  return path.replace('/lab/bench/', `/lab/bench/${kind}/`)
}

/**
 * The second answer of a page.
 * @throws {Error} if it is not the kept one, or shows something else.
 */
async function keptAnswer({ origin }: RunningServer, workload: Workload): Promise<Answer> {
  const path = keptPath(workload)
  await ask(origin, path)
  const answer = await ask(origin, path)
  const text = answer.headers.join('\n')
  const fault = text.includes('Millrace; hit') ? workload.fault(mainOf(answer.body.toString())) : `no hit: ${text}`
  if (fault !== undefined) throw new Error(`${path}: ${fault}`)
  return answer
}

/** Loads a page of two servers by turns. @returns how many times the CPU time of ours the other takes. */
export async function byCpu(
  ours: RunningServer,
  other: RunningServer,
  page: AskedPage,
  { rounds, seconds, warmUpSeconds }: ThroughputOptions,
): Promise<Pick<Measurement, 'value' | 'detail'>> {
  for (const server of [ours, other]) await run(server, page, warmUpSeconds)
  const pairs: { readonly ours: Run; readonly other: Run }[] = []
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ ours: await run(ours, page, seconds), other: await run(other, page, seconds) })
  }
  const ratios = pairs.map((pair) => pair.other.ticks / pair.ours.ticks)
  const perSecond = (rates: readonly number[]): string => `${Math.round(median(rates)).toLocaleString('en')}/s`
  return {
    value: median(ratios),
    detail:
      `ours ${perSecond(pairs.map((pair) => pair.ours.rate))}, ${other.contestant.name} ` +
      `${perSecond(pairs.map((pair) => pair.other.rate))}; ${rounds} rounds, ` +
      `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  }
}

/** Asks for a page. Without an agent by a connection of its own. */
export function ask(
  origin: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  agent?: Agent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(`${origin}${path}`, { headers, agent: agent ?? false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () => {
        const { rawHeaders } = answer
        const all = rawHeaders.flatMap((name, at) =>
          at % 2 === 0 && !OF_ONE_ANSWER.has(name.toLowerCase()) ? [name, rawHeaders[at + 1] ?? ''] : [],
        )
        resolve({ status: answer.statusCode ?? 0, headers: all, body: Buffer.concat(chunks) })
      })
    }).once('error', reject)
  })
}

function disposable(agent: Agent): Disposable & { readonly agent: Agent } {
  return { agent, [Symbol.dispose]: () => agent.destroy() }
}
