import { parseArgs } from 'node:util'
import { WORKLOADS } from './workloads.ts'
import type { WorkloadName } from './workloads.ts'

/** The parts of the benchmark, in the order they run. */
export const SECTIONS = [
  'scripts',
  'start',
  'matching',
  'throughput',
  'kept',
  'peers',
  'memory',
  'leaks',
  'action',
  'upload',
  'reports',
  'inputs',
  'build',
  'clicks',
  'link-watching',
  'navigations',
  'dev',
] as const

/** Those that need a Chromium. */
export const BROWSER_SECTIONS = ['clicks', 'link-watching', 'navigations', 'dev'] as const satisfies readonly Section[]

/** One of them. */
export type Section = (typeof SECTIONS)[number]

/** What a run was asked for. */
export interface BenchOptions {
  readonly sections: readonly Section[]
  readonly workloads: readonly WorkloadName[]
  /** Pairs of throughput runs of each workload. */
  readonly rounds: number
  /** Of one throughput run. */
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Pairs of processes whose memory is looked at, and requests to each. */
  readonly memory: { readonly rounds: number; readonly requests: number }
  readonly startRounds: number
  readonly matchingMs: number
  readonly leak: { readonly rounds: number; readonly requests: number }
  /** Bytes of the file that is sent. */
  readonly uploadBytes: number
  /** Times that each costly input is sent. */
  readonly inputRounds: number
  /** Pairs of visits, to an early page and to hello. */
  readonly earlyPairs: number
  /** Builds of each application, and first starts of `dev`. */
  readonly buildRounds: number
  /** Pairs of clicks, the client router's and a bare swap. */
  readonly clickPairs: number
  /** Loads of the page with a thousand links, in each of three windows. */
  readonly linkLoads: number
  /** In one page of the browser, in search of what it does not let go. */
  readonly navigations: number
  /** Saves of each kind in development. */
  readonly devSaves: number
  /** Whether a missed gate is an error. */
  readonly gate: boolean
  readonly markdown: boolean
  /** A server bundle to measure in place of the one that is built now. */
  readonly ours: string | undefined
  /** Whether only the help was wanted. */
  readonly help: boolean
}

/** An argument that is not understood; the message names it and the way out. */
export class BenchUsageError extends Error {
  override readonly name = 'BenchUsageError'
}

/** What `npm run bench -- --help` prints. */
export const USAGE = `npm run bench -- [options]

  --section <names>       comma-separated (all): ${SECTIONS.slice(0, -BROWSER_SECTIONS.length).join(', ')},
                          and in a Chromium: ${BROWSER_SECTIONS.join(', ')}
  --workload <names>      comma-separated: ${WORKLOADS.map(({ name }) => name).join(', ')} (all); throughput only, unless
                          --section says more
  --rounds <n>            pairs of throughput runs, ours and bare by turns (7)
  --seconds <n>           length of one throughput run (3)
  --leak-rounds <n>       rounds of the leak search (10)
  --leak-requests <n>     requests of one of them (20000)
  --navigations <n>       navigations in one page of the browser (10000)
  --quick                 everything once and short: shows that it works, says little
  --gate                  exit code 1 when a gate is missed
  --markdown              ends with the table of docs/performance.md
  --ours <bundle>         measures this server bundle and does not build`

const FULL = {
  rounds: 7,
  seconds: 3,
  warmUpSeconds: 2,
  memory: { rounds: 3, requests: 20_000 },
  startRounds: 5,
  matchingMs: 4000,
  leakRounds: 10,
  leakRequests: 20_000,
  uploadBytes: 2 ** 30,
  inputRounds: 3,
  earlyPairs: 60,
  buildRounds: 5,
  clickPairs: 100,
  linkLoads: 15,
  navigations: 10_000,
  devSaves: 20,
}

const QUICK: typeof FULL = {
  rounds: 2,
  seconds: 1,
  warmUpSeconds: 1,
  memory: { rounds: 1, requests: 2000 },
  startRounds: 3,
  matchingMs: 1000,
  leakRounds: 4,
  leakRequests: 1000,
  uploadBytes: 2 ** 28,
  inputRounds: 1,
  earlyPairs: 10,
  buildRounds: 1,
  clickPairs: 20,
  linkLoads: 3,
  navigations: 500,
  devSaves: 3,
}

/**
 * Reads the command line.
 * @throws {BenchUsageError}
 */
export function parseOptions(args: readonly string[]): BenchOptions {
  const values = parseFlags(args)
  const defaults = values.quick === true ? QUICK : FULL
  const allSections = values.workload === undefined ? SECTIONS : (['throughput'] as const)
  const allWorkloads = WORKLOADS.map(({ name }) => name)
  return {
    sections: names('--section', values.section, SECTIONS) ?? allSections,
    workloads: names('--workload', values.workload, allWorkloads) ?? allWorkloads,
    rounds: positive('--rounds', values.rounds) ?? defaults.rounds,
    seconds: positive('--seconds', values.seconds) ?? defaults.seconds,
    warmUpSeconds: defaults.warmUpSeconds,
    memory: defaults.memory,
    startRounds: defaults.startRounds,
    matchingMs: defaults.matchingMs,
    leak: {
      rounds: positive('--leak-rounds', values['leak-rounds']) ?? defaults.leakRounds,
      requests: positive('--leak-requests', values['leak-requests']) ?? defaults.leakRequests,
    },
    uploadBytes: defaults.uploadBytes,
    inputRounds: defaults.inputRounds,
    earlyPairs: defaults.earlyPairs,
    buildRounds: defaults.buildRounds,
    clickPairs: defaults.clickPairs,
    linkLoads: defaults.linkLoads,
    navigations: positive('--navigations', values.navigations) ?? defaults.navigations,
    devSaves: defaults.devSaves,
    gate: values.gate === true,
    markdown: values.markdown === true,
    ours: values.ours,
    help: values.help === true,
  }
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        section: { type: 'string' },
        workload: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        'leak-rounds': { type: 'string' },
        'leak-requests': { type: 'string' },
        navigations: { type: 'string' },
        quick: { type: 'boolean' },
        gate: { type: 'boolean' },
        markdown: { type: 'boolean' },
        ours: { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    throw new BenchUsageError(error instanceof Error ? error.message : String(error))
  }
}

function names<Name extends string>(flag: string, text: string | undefined, known: readonly Name[]) {
  return text?.split(',').map((name) => {
    const found = known.find((candidate) => candidate === name)
    if (found === undefined) throw new BenchUsageError(`${flag}: ${name} is none of ${known.join(', ')}.`)
    return found
  })
}

function positive(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new BenchUsageError(`${flag}: ${text} is no whole number above 0, such as 5.`)
}
