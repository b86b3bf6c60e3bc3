/** Files that several processes of one server write at once. */
import { readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { serverOfTest } from '../support/server-of-test.ts'

const LOAD_MS = 4_000
const SIGN = `/_m/data/lab/guestbook?_action=${actionId('lab/guestbook/actions.server.ts', 'sign')}&_m=`
const MESSAGE = 'x'.repeat(280)

/** Calls the action again and again, on one connection; `count` gets each status. */
async function callUntil(end: AbortSignal, port: number, name: string, count: (status: number) => void): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let at = 0; !end.aborted; at += 1) {
    count(await call(port, agent, `${name}-${at}`.padEnd(28, 'k')))
  }
  agent.destroy()
}

function call(port: number, agent: Agent, once: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-Millrace-Once': once }
  return new Promise((settled, fail) => {
    request({ port, agent, path: SIGN, method: 'POST', headers }, (answer) => {
      answer.resume().on('end', () => settled(answer.statusCode ?? 0))
    })
      .on('error', fail)
      .end(JSON.stringify({ input: { name: 'Ada', message: MESSAGE } }))
  })
}

test('the files of three workers are whole after calls to all of them at once', { timeout: 90_000 }, async () => {
  await using data = await makeTempDir('data')
  const server = await serverOfTest({ dataDir: data.path, env: { WORKERS: '3' } })
  const statuses = new Map<number, number>()
  const count = (status: number): void => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const end = AbortSignal.timeout(LOAD_MS)
  const first = callUntil(end, server.port, 'first', count)
  // One worker has opened the files before the others do.
  await delay(LOAD_MS / 4)
  await Promise.all([first, ...Array.from({ length: 12 }, (_, at) => callUntil(end, server.port, `c${at}`, count))])
  await server.stop()
  // On a busy machine some are refused for load.
  expect(statuses.get(200)).toBeGreaterThan(100)
  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([])

  const files = readdirSync(data.path).filter((name) => name.endsWith('.sqlite'))
  expect(files).toContain('runtime.sqlite')
  for (const file of files) {
    using database = new DatabaseSync(resolve(data.path, file))
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  }
  const messages = server.logs().map(({ msg }) => msg)
  expect(messages).not.toContain('worker has died')
  expect(messages).not.toContain('the store of calls has failed')
})
