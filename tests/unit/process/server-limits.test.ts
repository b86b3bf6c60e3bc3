import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SERVER_OPTIONS, setServerLimits } from '../../../src/server/process/server-limits.ts'

const DOCS = resolve(import.meta.dirname, '../../../docs')

/** A number that a chapter states, by the words around it. */
function stated(chapter: string, pattern: RegExp): number {
  const [, text = ''] = pattern.exec(readFileSync(resolve(DOCS, `${chapter}.md`), 'utf8')) ?? []
  return Number(text.replace(',', ''))
}

test('every limit of a connection is set, to what the handbook says of it', () => {
  const server = createServer(SERVER_OPTIONS)
  setServerLimits(server)
  expect(server.headersTimeout).toBe(stated('security', /time for the headers of a request \| (\d+) s/) * 1_000)
  expect(server.requestTimeout).toBe(stated('security', /a request with its body \| (\d+) min/) * 60_000)
  expect(server.maxHeadersCount).toBe(stated('security', /KiB, and (\d+) headers/))
  expect(server.keepAliveTimeout).toBe(stated('observability', /An idle connection is closed after (\d+) s/) * 1_000)
  // Node's own 30 s would be added to each of the times.
  expect(SERVER_OPTIONS.connectionsCheckingInterval).toBeLessThanOrEqual(5_000)
  expect(server.maxConnections).toBe(stated('observability', /A process accepts ([\d,]+) connections/))
})

test('workers that are all full close further connections, and do not hand them round', async () => {
  const cluster = fork(resolve(import.meta.dirname, 'full-workers.ts'), { execArgv: [] })
  onTestFinished(() => void cluster.kill())
  const [port] = (await once(cluster, 'message')) as [number]
  const sockets = Array.from({ length: 6 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  await expect.poll(() => sockets.filter(({ closed }) => closed).length, { timeout: 10_000 }).toBe(4)
})
