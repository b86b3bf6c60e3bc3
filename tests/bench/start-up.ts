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

async function startTime(contestant: Contestant): Promise<number> {
  await using server = await startServer(contestant, '/')
  return server.startMs
}
