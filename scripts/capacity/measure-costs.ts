import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'
import { startBuiltServer } from '../../tests/support/built-server.ts'
import { REQUEST_KINDS, SAMPLES, type Costs, type RequestKind } from './costs.ts'

const WARM_SECONDS = 2
const SECONDS = 4
const CONNECTIONS = 8

/**
 * Loads the built server with one kind of request after another and divides the CPU time of its process by the number
 * of answers. Linux only.
 * @throws {Error} if a page does not answer as expected.
 */
export async function measureCosts(): Promise<Costs> {
  const server = await startBuiltServer()
  try {
    const home = await (await fetch(`${server.origin}/`)).text()
    const asset = /\/_m\/assets\/[\w.-]+\.js/.exec(home)?.[0] ?? ''
    const costs: [RequestKind, number][] = []
    for (const kind of REQUEST_KINDS) {
      const { path, status } = SAMPLES[kind]
      const url = `${server.origin}${path === '' ? asset : path}`
      const answer = await fetch(url)
      await answer.arrayBuffer()
      if (answer.status !== status) throw new Error(`${url} answers ${answer.status}, expected ${status}`)
      costs.push([kind, await costOf(url, server.pid)])
    }
    return Object.fromEntries(costs) as Record<RequestKind, number>
  } finally {
    await server.stop()
  }
}

async function costOf(url: string, pid: number): Promise<number> {
  await autocannon({ url, connections: CONNECTIONS, duration: WARM_SECONDS })
  const before = cpuMs(pid)
  const { requests, non2xx, errors } = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS })
  if (non2xx + errors > 0) throw new Error(`${url}: ${non2xx} answers were not successful, ${errors} requests failed`)
  return (cpuMs(pid) - before) / requests.total
}

/** User and system time of a process and all its threads. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticks = Number(fields[11]) + Number(fields[12])
  return (ticks * 1000) / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
}
