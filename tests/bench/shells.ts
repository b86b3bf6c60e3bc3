import { ask, byCpu, keptPath } from './kept.ts'
import type { Measurement } from './measurement.ts'
import { startServer } from './server-process.ts'
import type { Contestant, RunningServer } from './server-process.ts'
import type { AskedPage, ThroughputOptions } from './throughput.ts'
import { mainOf } from './workloads.ts'
import type { Workload } from './workloads.ts'

const LEAST_OF_OTHERS = 8
const VISITOR = 'Ada'

/**
 * A kept shell whose slot is this visitor's, beside a server that renders the whole page for each visitor, or keeps a shell
 * as well. By CPU time.
 */
export async function measureShells(
  ours: Contestant,
  other: Contestant,
  workload: Workload,
  options: ThroughputOptions,
): Promise<Measurement> {
  const page = { path: keptPath(workload, 'shell'), cookie: `visitor=${VISITOR}` }
  await using ourServer = await startServer(ours, page.path)
  await using otherServer = await startServer(other, page.path)
  const headers = await checkShell(ourServer, page, workload)
  if (!headers.includes('Millrace; hit')) throw new Error(`${page.path}: no hit: ${headers}`)
  await checkShell(otherServer, page, workload)
  const { value, detail } = await byCpu(ourServer, otherServer, page, options)
  return {
    name: `kept shell, ${workload.name}, beside ${other.name}`,
    value,
    unit: '×',
    gate: { bound: '≥', limit: LEAST_OF_OTHERS },
    detail: `by CPU time; ${detail}`,
  }
}

/**
 * Looks at the second answer.
 * @returns its headers.
 * @throws {Error} if it is not the page, with the part of this visitor.
 */
async function checkShell(
  { origin, contestant }: RunningServer,
  { path, cookie }: Required<AskedPage>,
  workload: Workload,
): Promise<string> {
  await ask(origin, path, { Cookie: cookie })
  const { headers, body } = await ask(origin, path, { Cookie: cookie })
  const text = body.toString()
  const isVisitors = text.includes(`<p data-testid="visitor">${VISITOR}</p>`)
  const fault = isVisitors ? workload.fault(mainOf(text)) : `nothing of ${VISITOR}`
  if (fault !== undefined) throw new Error(`${contestant.name}, ${path}: ${fault}`)
  return headers.join('\n')
}
