import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { dsnText, INBOX_DSN, parseDsn } from '../../src/server/config/dsn.ts'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { costlyInputs, costlyReports, type CostlyInput, type Target } from './costly-inputs.ts'
import type { Measurement } from './measurement.ts'
import { median } from './statistics.ts'

/** Cost of an input. */
interface InputCost {
  readonly name: string
  readonly coding?: string | undefined
  /** Bytes on the wire, including request line and headers. */
  readonly bytes: number
  /** Milliseconds of processor time beyond those of a minimal request. */
  readonly milliseconds: number
  readonly status: number
}

const PROBE = resolve(import.meta.dirname, 'cpu-probe.ts')
const RELAY = '/reports-in'
const SETTLE_MS = 30 // work after an answer belongs to it
const SHOWN = 5
const NOTHING: CostlyInput = { name: 'nothing', request: Buffer.from(getRequest('/healthz', { Connection: 'close' })) }

/**
 * Sends every kind of input, compressible bodies and answers in each coding, and names those that cost most processor
 * time for each byte on the wire. No gate: on another machine only their order is meaningful.
 * @param entry of the built server; source maps are beside it, in `../maps`.
 */
export async function measureInputs(entry: string, rounds: number): Promise<Measurement> {
  const worst = costliest(await measureCosts(entry, rounds), SHOWN)
  return {
    name: 'costliest input, by byte',
    value: worst[0]?.milliseconds ?? 0,
    unit: 'ms',
    detail: `${worst.map(shown).join('; ')}; ${rounds} rounds`,
  }
}

/** Milliseconds per KiB on the wire. */
export function perKib({ milliseconds, bytes }: Pick<InputCost, 'milliseconds' | 'bytes'>): number {
  return milliseconds / (bytes / 1_024)
}

/** The most expensive inputs per byte, each only in its most expensive coding. */
export function costliest(costs: readonly InputCost[], most: number): readonly InputCost[] {
  const byName = new Map<string, InputCost>()
  for (const cost of costs) {
    const known = byName.get(cost.name)
    if (known === undefined || perKib(cost) > perKib(known)) byName.set(cost.name, cost)
  }
  return [...byName.values()].toSorted((one, other) => perKib(other) - perKib(one)).slice(0, most)
}

function shown({ name, coding = 'plain', ...cost }: InputCost): string {
  const { milliseconds, bytes, status } = cost
  return `${name} (${coding}, ${status}): ${milliseconds.toFixed(1)} ms for ${bytes} B`
}

async function measureCosts(entry: string, rounds: number): Promise<readonly InputCost[]> {
  const server = await startBuiltServer({
    entry,
    env: { REPORT_TUNNEL_PATH: RELAY, LOG_LEVEL: 'silent' },
    nodeArgs: ['--import', PROBE],
  })
  try {
    const dsn = parseDsn(INBOX_DSN)
    if (dsn === undefined) throw new Error('The inbox has no DSN')
    const relay = { relay: RELAY, dsn: dsnText(dsn) }
    const scripts = (await readdir(resolve(entry, '../../maps'))).map((name) => name.replace(/\.map$/, ''))
    const inputs = [NOTHING, ...costlyInputs({ ...relay, reports: await fillInbox(server, relay, scripts) })]
    const measured: InputCost[][] = inputs.map(() => [])
    for (let round = 0; round <= rounds; round += 1) {
      // The envelopes of a round evict them.
      await fillInbox(server, relay, scripts)
      for (const [at, input] of inputs.entries()) {
        const cost = await costOf(server, input)
        // The first round is a warm-up.
        if (round > 0) measured[at]?.push(cost)
      }
    }
    const [idle = 0, ...costs] = measured.map((all) => median(all.map(({ milliseconds }) => milliseconds)))
    return measured.slice(1).flatMap(([cost], at) => {
      return cost === undefined ? [] : [{ ...cost, milliseconds: Math.max(0, (costs[at] ?? 0) - idle) }]
    })
  } finally {
    server.kill('SIGKILL')
    await server.exited
  }
}

/** Sends reports that are expensive to show. @returns the paths of their pages. */
async function fillInbox(
  server: BuiltServer,
  relay: Pick<Target, 'relay' | 'dsn'>,
  scripts: readonly string[],
): Promise<readonly string[]> {
  for (const report of costlyReports(relay, scripts)) await requestRaw(server.port, report)
  const list = await requestRaw(server.port, getRequest('/lab/reports', { Connection: 'close' }))
  return [...new Set(list.body.toString().match(/\/lab\/reports\/[0-9a-f]+/g))]
}

async function costOf(server: BuiltServer, { request, ...input }: CostlyInput): Promise<InputCost> {
  const before = await cpuMs(server)
  const { status } = await requestRaw(server.port, request)
  await delay(SETTLE_MS)
  return { ...input, bytes: request.length, milliseconds: (await cpuMs(server)) - before, status }
}

/** Processor time of a server so far, in ms. */
async function cpuMs(server: BuiltServer): Promise<number> {
  const { length } = server.stdout
  process.kill(server.pid, 'SIGUSR2')
  for (;;) {
    const line = server.stdout.slice(length).find((one) => one.startsWith('{"probe":'))
    if (line !== undefined) return (JSON.parse(line) as { readonly probe: { readonly cpuMs: number } }).probe.cpuMs
    await delay(1)
  }
}
