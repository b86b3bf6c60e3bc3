import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Measurement } from './measurement.ts'
import { startServer } from './server-process.ts'
import type { Contestant } from './server-process.ts'
import { median } from './statistics.ts'

/** Time from spawn to the first 200 on `/`, ours and bare by turns. */
export async function measureStartUp(
  ours: Contestant,
  bare: Contestant,
  { rounds }: { readonly rounds: number },
): Promise<Measurement> {
  const times: { ours: number; bare: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    times.push({ ours: await startTime(ours), bare: await startTime(bare) })
  }
  const ourTimes = times.map((time) => time.ours)
  return {
    name: 'start to first page',
    value: median(ourTimes),
    unit: 'ms',
    detail:
      `bare ${median(times.map((time) => time.bare)).toFixed(0)} ms; ${rounds} rounds, ` +
      `${Math.min(...ourTimes).toFixed(0)} to ${Math.max(...ourTimes).toFixed(0)} ms`,
  }
}

/**
 * The first start of a build, beside bare by turns: before each one, the compile cache of the build is removed, as a fresh
 * container has none.
 */
export async function measureFirstStart(
  ours: Contestant,
  bare: Contestant,
  { rounds }: { readonly rounds: number },
): Promise<Measurement> {
  const times: { ours: number; bare: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    await rm(join(ours.entry, '../../cache'), { recursive: true, force: true })
    times.push({ ours: await startTime(ours), bare: await startTime(bare) })
  }
  const [first, beside] = [median(times.map((time) => time.ours)), median(times.map((time) => time.bare))]
  return {
    name: 'first start to first page',
    value: first / beside,
    unit: '×',
    detail: `${first.toFixed(0)} ms, bare ${beside.toFixed(0)} ms; ${rounds} rounds`,
  }
}

async function startTime(contestant: Contestant): Promise<number> {
  await using server = await startServer(contestant, '/')
  return server.startMs
}
