import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readdir, readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import { bundleBareServer, PROJECT } from './bundle.ts'
import { outputOf } from './load.ts'
import type { Measurement } from './measurement.ts'
import { cpuTicks, startServer, type Contestant, type RunningServer } from './server-process.ts'
import { median } from './statistics.ts'
import { measureThroughput, type ThroughputOptions } from './throughput.ts'
import { WORKLOADS } from './workloads.ts'

const LEAST_PAGES = 0.9
const LEAST_ENVELOPES = 3_000 // a second
const LEAST_RELAYED = 0.5
const MOST_FIRST_LOAD = 1_024
const MOST_SDK = 57_344
const ENVELOPE_BYTES = 4_096
const SAMPLED = '0.05'
const GZIP_LEVEL = 9 // as the build does it

/** The error service: answers all, and counts. */
interface CountingService extends AsyncDisposable {
  readonly url: string
  readonly dsn: string
  readonly taken: () => number
  /** Resolves when so many have come. */
  until(count: number): Promise<void>
}

/** What error reports cost: pages, envelopes, and bytes of a first load. */
export async function measureReports(
  folder: string,
  ours: Contestant,
  options: ThroughputOptions,
): Promise<Measurement[]> {
  return [
    await measurePages(ours, options),
    ...(await measureRelay(folder, ours, options)),
    ...(await measureBytes(ours)),
  ]
}

/** Pages with reporting on beside the same server without. */
async function measurePages(ours: Contestant, options: ThroughputOptions): Promise<Measurement> {
  await using service = await startService()
  const env = { SENTRY_DSN: service.dsn, SENTRY_TRACES_SAMPLE_RATE: SAMPLED }
  const hello = WORKLOADS.find(({ name }) => name === 'hello')
  if (hello === undefined) throw new Error('There is no workload hello.')
  const measured = await measureThroughput({ ...ours, name: 'on', env }, { ...ours, name: 'off' }, hello, options)
  if (service.taken() === 0) throw new Error('No trace of a request has reached the service.')
  return { ...measured, name: 'reports, hello traced at 5 %', gate: { bound: '≥', limit: LEAST_PAGES } }
}

/**
 * Envelopes through the relay beside a proxy that keeps none. Both forward every envelope, but not in the same time: the
 * proxy before it answers, the relay at a pace that leaves the processor to pages. So what counts is the time, and the
 * processor's time, until the service has all of them: what is left in the spool after a run is waited for. Only what is
 * taken out of the spool in the last 10 ms is missing, and that of the run before is in. The ratio by processor time is the
 * gate: in the other the relay also waits for its disk.
 *
 * The comparison is hard on the relay in two ways, both its own choice: it delivers in small bursts between which it waits,
 * and what runs now and then finds the processor's caches cold; and all that every request to this server gets is in it,
 * the guard and the line in the log among them. Its threads count as well.
 */
async function measureRelay(
  folder: string,
  ours: Contestant,
  { rounds, seconds, warmUpSeconds }: ThroughputOptions,
): Promise<Measurement[]> {
  await using service = await startService()
  const bare: Contestant = {
    name: 'bare',
    entry: await bundleBareServer(folder, 'bare-relay.ts'),
    env: { SERVICE: service.url },
  }
  const env = { SENTRY_DSN: service.dsn, TRUST_PROXY: '127.0.0.0/8' }
  await using ourServer = await startServer({ ...ours, env }, '/lab/bench/hello')
  await using bareServer = await startServer(bare, '/')
  const tunnel = derivedTunnelPath(service.dsn)
  const runOurs = (time: number) => run(ourServer, service, tunnel, time)
  const runBare = (time: number) => run(bareServer, service, '/tunnel', time)
  await runOurs(warmUpSeconds)
  await runBare(warmUpSeconds)

  const pairs: { ours: Run; bare: Run }[] = []
  for (let round = 0; round < rounds; round += 1)
    pairs.push({ ours: await runOurs(seconds), bare: await runBare(seconds) })
  const rateOf = (who: 'ours' | 'bare'): number => median(pairs.map((pair) => pair[who].rate))
  const delivered = median(pairs.map((pair) => pair.ours.deliveredRate))
  const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`
  const byCpu = median(pairs.map((pair) => pair.bare.ticks / pair.ours.ticks))
  const byRate = median(pairs.map((pair) => pair.ours.deliveredRate / pair.bare.deliveredRate))
  return [
    {
      name: 'reports, envelopes of 4 kB',
      value: delivered,
      unit: '/s',
      gate: { bound: '≥', limit: LEAST_ENVELOPES },
      detail: `until the service has all of them; kept and answered ${perSecond(rateOf('ours'))}; ${rounds} runs on one core`,
    },
    {
      name: 'reports, relay beside a bare proxy',
      value: byCpu,
      unit: '×',
      gate: { bound: '≥', limit: LEAST_RELAYED },
      detail:
        `by CPU time, delivery included; ours ${perSecond(delivered)}, bare ${perSecond(rateOf('bare'))}, ` +
        `${rounds} pairs; by rate ${byRate.toFixed(2)}`,
    },
  ]
}

/** One run of one server. */
interface Run {
  /** Envelopes a second that were answered. */
  readonly rate: number
  /** Envelopes a second from the first that came until the service had all. */
  readonly deliveredRate: number
  /** CPU time of an envelope until the service has it. */
  readonly ticks: number
}

async function run(server: RunningServer, service: CountingService, path: string, seconds: number): Promise<Run> {
  const [before, taken] = [await cpuTicks(server.pid), service.taken()]
  const { port } = new URL(server.origin)
  const script = join(PROJECT, 'tests/bench/envelope-load.ts')
  const args = [script, port, path, service.dsn, String(ENVELOPE_BYTES), String(seconds)]
  const { answered, rate } = JSON.parse(await outputOf(process.execPath, args)) as { answered: number; rate: number }
  const sentAt = performance.now()
  await service.until(taken + answered)
  const total = answered / rate + (performance.now() - sentAt) / 1_000
  return { rate, deliveredRate: answered / total, ticks: ((await cpuTicks(server.pid)) - before) / answered }
}

/** What a first load carries for reports, and the file that comes later. */
async function measureBytes(ours: Contestant): Promise<Measurement[]> {
  await using server = await startServer(ours, '/lab/bench/hello')
  const html = await (await fetch(`${server.origin}/lab/bench/hello`)).text()
  const without = html.replace(/<script nonce="[^"]*">(?:(?!<\/script>)[^])*millraceReports[^]*?<\/script>/, '')
  if (without === html) throw new Error('The document carries no recorder.')
  const weigh = (contents: string | Uint8Array): number => gzipSync(contents, { level: GZIP_LEVEL }).byteLength
  const folder = join(ours.entry, '../../public')
  const sdk = (await readdir(folder)).find((name) => /^reports-\w+\.js$/.test(name)) ?? ''
  return [
    {
      name: 'reports, in a document',
      value: weigh(html) - weigh(without),
      unit: 'B',
      gate: { bound: '≤', limit: MOST_FIRST_LOAD },
      detail: 'gzip, by which the document is larger',
    },
    {
      name: 'reports, SDK',
      value: weigh(await readFile(join(folder, sdk))),
      unit: 'B',
      gate: { bound: '≤', limit: MOST_SDK },
      detail: 'gzip, loaded when the page has been',
    },
  ]
}

async function startService(): Promise<CountingService> {
  const state = { taken: 0 }
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      state.taken += 1
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
      for (const look of waiting) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/api/42/envelope/`,
    dsn: `http://public@127.0.0.1:${port}/42`,
    taken: () => state.taken,
    until: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (state.taken < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
