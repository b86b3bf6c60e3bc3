/**
 * `node scripts/costly-inputs.ts [--rounds 3] [--most 10]`: sends every kind of input to the build in `dist`,
 * compressible bodies and answers in each coding, and prints those that cost most processor time per KiB on the wire.
 * Run it on a quiet machine; on another one only the order of the results is meaningful.
 */
import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { dsnText, INBOX_DSN, parseDsn } from '../src/server/config/dsn.ts'
import { startBuiltServer, type BuiltServer } from '../tests/support/built-server.ts'
import { getRequest, requestRaw } from '../tests/support/raw-http.ts'
import { costlyInputs, costlyReports, type CostlyInput, type Target } from './costly/inputs.ts'
import { costTable, costliest, middle, type InputCost } from './costly/ranking.ts'

const MAPS = resolve(import.meta.dirname, '../dist/maps')
const PROBE = resolve(import.meta.dirname, 'costly/cpu-probe.ts')
const RELAY = '/reports-in'
const SETTLE_MS = 30 // work after an answer belongs to it
const NOTHING: CostlyInput = { name: 'nothing', request: Buffer.from(getRequest('/healthz', { Connection: 'close' })) }

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, most: { type: 'string', default: '10' } },
})

/** Processor time of a server so far, in ms. */
async function cpuMs(server: BuiltServer): Promise<number> {
  const { length } = server.stdout
  process.kill(server.pid, 'SIGUSR2')
  for (;;) {
    const probe = server
      .logs()
      .slice(-50)
      .findLast((line) => 'probe' in line) as { readonly probe: { readonly cpuMs: number } } | undefined
    if (probe !== undefined && server.stdout.length > length && server.stdout.slice(length).some(isProbe)) {
      return probe.probe.cpuMs
    }
    await delay(1)
  }
}

function isProbe(line: string): boolean {
  return line.startsWith('{"probe":')
}

async function costOf(server: BuiltServer, { request, ...input }: CostlyInput): Promise<InputCost> {
  const before = await cpuMs(server)
  const { status } = await requestRaw(server.port, request)
  await delay(SETTLE_MS)
  return { ...input, bytes: request.length, milliseconds: (await cpuMs(server)) - before, status }
}

/** Sends reports that are expensive to show. @returns the paths of their pages. */
async function fillInbox(server: BuiltServer, relay: Pick<Target, 'relay' | 'dsn'>): Promise<readonly string[]> {
  const scripts = (await readdir(MAPS)).map((name) => name.replace(/\.map$/, ''))
  for (const report of costlyReports(relay, scripts)) await requestRaw(server.port, report)
  const list = await requestRaw(server.port, getRequest('/lab/reports', { Connection: 'close' }))
  return [...new Set(list.body.toString().match(/\/lab\/reports\/[0-9a-f]+/g))]
}

async function measure(rounds: number): Promise<readonly InputCost[]> {
  const server = await startBuiltServer({
    env: { REPORT_TUNNEL_PATH: RELAY, LOG_LEVEL: 'silent' },
    nodeArgs: ['--import', PROBE],
  })
  try {
    const dsn = parseDsn(INBOX_DSN)
    if (dsn === undefined) throw new Error('The inbox has no DSN')
    const relay = { relay: RELAY, dsn: dsnText(dsn) }
    const inputs = costlyInputs({ ...relay, reports: await fillInbox(server, relay) })
    const measured: InputCost[][] = [NOTHING, ...inputs].map(() => [])
    for (let round = 0; round <= rounds; round += 1) {
      // The envelopes of a round evict them.
      await fillInbox(server, relay)
      for (const [at, input] of [NOTHING, ...inputs].entries()) {
        const cost = await costOf(server, input)
        // The first round is a warm-up.
        if (round > 0) measured[at]?.push(cost)
      }
    }
    const [idle = 0, ...costs] = measured.map((all) => middle(all.map(({ milliseconds }) => milliseconds)))
    return measured.slice(1).flatMap(([cost], at) => {
      return cost === undefined ? [] : [{ ...cost, milliseconds: Math.max(0, (costs[at] ?? 0) - idle) }]
    })
  } finally {
    server.kill('SIGKILL')
    await server.exited
  }
}

const costs = await measure(Number(values.rounds))
console.log(costTable(costliest(costs, Number(values.most))))
