import { loadFor } from './load.ts'
import type { Measurement } from './measurement.ts'
import { cpuTicks, startServer } from './server-process.ts'
import type { Contestant, RunningServer } from './server-process.ts'
import { median } from './statistics.ts'
import { comparable, mainOf } from './workloads.ts'
import type { Workload } from './workloads.ts'

/** How long a throughput run takes. */
export interface ThroughputOptions {
  /** Pairs of runs, ours and bare by turns. */
  readonly rounds: number
  /** Of one run. */
  readonly seconds: number
  /** Before the first round, for the compiler of each process. */
  readonly warmUpSeconds: number
}

/** Measures one workload on two servers that run side by side, one of them idle. */
export async function measureThroughput(
  ours: Contestant,
  bare: Contestant,
  workload: Workload,
  { rounds, seconds, warmUpSeconds }: ThroughputOptions,
): Promise<Measurement> {
  await using ourServer = await startServer(ours, workload.path)
  await using bareServer = await startServer(bare, workload.path)
  await checkAnswers(ourServer, bareServer, workload)
  await run(ourServer, workload, warmUpSeconds)
  await run(bareServer, workload, warmUpSeconds)

  const pairs: { ours: Run; bare: Run }[] = []
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({
      ours: await run(ourServer, workload, seconds),
      bare: await run(bareServer, workload, seconds),
    })
  }
  const ratios = pairs.map((pair) => pair.ours.rate / pair.bare.rate)
  const byCpu = median(pairs.map((pair) => pair.bare.ticks / pair.ours.ticks))
  const perSecond = (rates: readonly number[]): string => `${Math.round(median(rates)).toLocaleString('en')}/s`
  return {
    name: `throughput, ${workload.name}`,
    value: median(ratios),
    unit: '×',
    detail:
      `${ours.name} ${perSecond(pairs.map((pair) => pair.ours.rate))}, ${bare.name} ${perSecond(pairs.map((pair) => pair.bare.rate))}; ` +
      `${rounds} rounds, ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}; ` +
      `by CPU time ${byCpu.toFixed(2)}`,
  }
}

/** One run of one server. */
export interface Run {
  /** Requests a second. */
  readonly rate: number
  /** CPU time of a request: shows what is left of a difference when a busy machine disturbs the rates. */
  readonly ticks: number
}

/** What is asked for. */
export interface AskedPage extends Pick<Workload, 'path'> {
  /** Value of `Cookie`. */
  readonly cookie?: string
}

/** Loads one page of a server for a time. */
export async function run(server: RunningServer, { path, cookie }: AskedPage, seconds: number): Promise<Run> {
  const before = await cpuTicks(server.pid)
  const { rate, requests } = await loadFor(`${server.origin}${path}`, seconds, { cookie })
  if (requests === 0) throw new Error(`${server.contestant.name}, ${path}: no answer in ${seconds} s`)
  return { rate, ticks: ((await cpuTicks(server.pid)) - before) / requests }
}

/**
 * A benchmark of wrong answers is worthless: both must be right, and the same.
 * @throws {Error} that names the server and the fault.
 */
async function checkAnswers(ours: RunningServer, bare: RunningServer, workload: Workload): Promise<void> {
  const [ourMain, bareMain] = await Promise.all([ours, bare].map((server) => mainOfAnswer(server, workload)))
  if (comparable(ourMain ?? '') !== comparable(bareMain ?? '')) {
    throw new Error(`${workload.path}: the two servers render different pages.`)
  }
}

async function mainOfAnswer(server: RunningServer, workload: Workload): Promise<string> {
  const answer = await fetch(`${server.origin}${workload.path}`)
  const main = mainOf(await answer.text())
  const fault = answer.status === 200 ? workload.fault(main) : `status ${answer.status}`
  if (fault === undefined) return main
  throw new Error(`${server.contestant.name}, ${workload.path}: ${fault}`)
}
