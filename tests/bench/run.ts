import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { makeTempDir } from '../support/temp-dir.ts'
import { measureActions, measureUpload } from './actions.ts'
import { missingChromium, startBrowser } from './browser-pages.ts'
import type { BenchBrowser } from './browser-pages.ts'
import { measureBuilds } from './builds.ts'
import { bundleBareServer, PROJECT } from './bundle.ts'
import { measureClicks } from './clicks.ts'
import { measureClientScripts } from './client-scripts.ts'
import { measureEarlyShells } from './early-shells.ts'
import { measureInputs } from './input-costs.ts'
import { measureKept, measureKeptMemory, measureKeptPeer, measureStrangers } from './kept.ts'
import { measureLeaks } from './leaks.ts'
import { measureLinkWatching } from './link-watching.ts'
import { measureDevSaves } from './dev-saves.ts'
import { GENERATOR } from './load.ts'
import { measureMatching } from './match-routes.ts'
import { holds, toLine, toMarkdown } from './measurement.ts'
import type { Measurement } from './measurement.ts'
import { measureMemory } from './memory.ts'
import { measureNavigations } from './navigations.ts'
import { BROWSER_SECTIONS } from './options.ts'
import type { BenchOptions, Section } from './options.ts'
import { buildPeer, missingPeer, PEERS } from './peers.ts'
import { measureReports } from './reports.ts'
import { measureRouterWeight } from './router-weight.ts'
import { layout, leaveServerCore, onAllCores } from './server-process.ts'
import type { Contestant } from './server-process.ts'
import { measureShells } from './shells.ts'
import { measureFirstStart, measureStartUp } from './start-up.ts'
import { measureThroughput } from './throughput.ts'
import { WORKLOADS } from './workloads.ts'

const MOST_FIRST_START = 2.2 // of bare Express: parsing the runtime without a compile cache is most of it
const MOST_SCRIPT_BYTES = 6656 // over React itself; the table of the reference application is a sixth of it
const MOST_MATCHING_GROWTH = 3 // from 10 to 10,000 routes; a table that is scanned grows a thousandfold

/**
 * Runs the benchmark, printing each measurement when it is known.
 * @returns whether every gate holds that was measured.
 * @throws {Error} when an answer is wrong or a server fails: then there is nothing to report.
 */
export async function runBenchmark(options: BenchOptions): Promise<boolean> {
  leaveServerCore()
  await using folder = await makeTempDir('bare')
  const bare: Contestant = { name: 'bare', entry: await bundleBareServer(folder.path) }
  const ours: Contestant = { name: 'ours', entry: resolve(PROJECT, options.ours ?? 'dist/server/main.js') }
  const machine = `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}`
  console.log(`${machine}; ${layout()}; load by ${GENERATOR}\n`)

  const all: Measurement[] = []
  const report = (measurement: Measurement): void => {
    all.push(measurement)
    console.log(toLine(measurement))
  }
  const workloads = WORKLOADS.filter(({ name }) => options.workloads.includes(name))
  /** A peer has no gate: what it does is its own affair. */
  async function besides(peer: Contestant): Promise<void> {
    for (const workload of workloads) {
      const measured = await measureThroughput(ours, peer, workload, options)
      report({ ...measured, name: `${measured.name}, beside ${peer.name}` })
    }
    const scripts = await measureClientScripts(peer)
    report({ ...scripts, name: `${scripts.name}, of ${peer.name}` })
  }
  const sections: Record<Section, () => Promise<void>> = {
    async scripts() {
      report({ ...(await measureClientScripts(ours)), gate: { bound: '≤', limit: MOST_SCRIPT_BYTES } })
      report(await measureRouterWeight())
    },
    async start() {
      const rounds = options.startRounds
      report(await measureStartUp(ours, bare, { rounds }))
      report({ ...(await measureFirstStart(ours, bare, { rounds })), gate: { bound: '≤', limit: MOST_FIRST_START } })
    },
    matching: async () => report(matchingGrowth(options.matchingMs)),
    async throughput() {
      for (const workload of workloads) {
        const gate = { bound: '≥', limit: workload.leastRatio } as const
        report({ ...(await measureThroughput(ours, bare, workload, options)), gate })
      }
    },
    async kept() {
      for (const workload of workloads) report(await measureKept(ours, folder.path, workload, options))
      for (const measured of [measureStrangers, measureKeptMemory]) report(await measured(ours))
      report(await measureEarlyShells(ours, { pairs: options.earlyPairs }))
      // A shell is for pages that cost something.
      const shells = workloads.filter(({ name }) => name !== 'hello')
      for (const workload of shells) report(await measureShells(ours, bare, workload, options))
      const missing = PEERS.map(missingPeer).filter((one) => one !== undefined)
      for (const one of missing) console.log(`skip  ${one}`)
      for (const peer of PEERS.filter((one) => one.keeps && missingPeer(one) === undefined)) {
        const built = await buildPeer(peer)
        for (const workload of workloads) report(await measureKeptPeer(ours, built, workload, options))
        if (peer.partial === undefined) continue
        const partial = await buildPeer(peer, peer.partial)
        for (const workload of shells) report(await measureShells(ours, partial, workload, options))
      }
    },
    async peers() {
      for (const peer of PEERS) {
        const missing = missingPeer(peer)
        if (missing !== undefined) console.log(`skip  ${missing}`)
        else await besides(await buildPeer(peer))
      }
    },
    memory: async () => report(await measureMemory(ours, bare, options.memory)),
    leaks: async () => (await measureLeaks(ours, options.leak)).forEach(report),
    action: async () => (await measureActions(folder.path, options)).forEach(report),
    upload: async () => (await measureUpload(folder.path, options.uploadBytes)).forEach(report),
    reports: async () => (await measureReports(folder.path, ours, options)).forEach(report),
    inputs: async () => report(await measureInputs(ours.entry, options.inputRounds)),
    build: () =>
      onAllCores(async () => (await measureBuilds(folder.path, { rounds: options.buildRounds })).forEach(report)),
    clicks: () => inBrowser((browser) => measureClicks(browser, ours, { pairs: options.clickPairs })),
    'link-watching': () => inBrowser((browser) => measureLinkWatching(browser, ours, { loads: options.linkLoads })),
    navigations: () => inBrowser((browser) => measureNavigations(browser, ours, options)),
    dev: () => onAllCores(() => inBrowser((browser) => measureDevSaves(browser, { saves: options.devSaves }))),
  }
  /** A browser for each section: what one leaves behind is no burden of the next. */
  async function inBrowser(measure: (browser: BenchBrowser) => Promise<Measurement[]>): Promise<void> {
    await using browser = await startBrowser()
    ;(await measure(browser)).forEach(report)
  }

  const missing = missingChromium()
  const skipped = missing === undefined ? [] : options.sections.filter(needsBrowser)
  if (skipped.length > 0) console.log(`skip  ${skipped.join(', ')}: ${missing}`)
  for (const section of options.sections) if (!skipped.includes(section)) await sections[section]()

  const missed = all.filter((measurement) => !holds(measurement))
  console.log(`\n${missed.length === 0 ? 'All gates hold.' : `Missed: ${missed.map(({ name }) => name).join('; ')}`}`)
  if (skipped.length > 0) console.log(`Not measured: ${skipped.join(', ')}.`)
  if (options.markdown) console.log(`\n${machine}.\n\n${toMarkdown(all)}`)
  return missed.length === 0
}

function needsBrowser(section: Section): boolean {
  return BROWSER_SECTIONS.some((one) => one === section)
}

function matchingGrowth(budgetMs: number): Measurement {
  const sizes = measureMatching(budgetMs, () => performance.now())
  const largest = sizes.at(-1)
  if (largest === undefined) throw new Error('No table was measured.')
  return {
    name: `matching, ${largest.routes.toLocaleString('en')} routes`,
    value: largest.growth,
    unit: '×',
    gate: { bound: '≤', limit: MOST_MATCHING_GROWTH },
    detail: `over the smallest table; ${sizes
      .map(({ routes, nanoseconds }) => `${routes.toLocaleString('en')}: ${nanoseconds.toFixed(0)} ns`)
      .join(', ')}`,
  }
}
