import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { YOUNG_MS } from '../../src/server/process/workers/worker-pool.ts'
import type { BuiltServer } from '../support/built-server.ts'
import { childrenOf } from '../support/child-processes.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { serverOfTest } from '../support/server-of-test.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
// Each test starts three processes or more, one behind the other: seconds, or on a busy machine much more.
vi.setConfig({ testTimeout: 90_000 })
const PATIENCE = { timeout: 45_000, interval: 50 }

const started = (env: Readonly<Record<string, string>> = {}): Promise<BuiltServer> =>
  serverOfTest({ env: { WORKERS: '2', LOG_LEVEL: 'info', ...env } })

/** Which workers have answered since the server started, by their log lines. */
const answering = (server: BuiltServer): Set<unknown> =>
  new Set(server.logs().flatMap(({ worker, requestId }) => (requestId === undefined ? [] : [worker])))

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * A status, or none: a connection that is just being handed to a worker when that is killed is never answered, and
 * nobody can know.
 */
const statusOf = (port: number, path: string): Promise<number | undefined> =>
  fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(2_000) }).then(
    (answer) => answer.status,
    () => undefined,
  )

const get = (port: number, path: string) => requestRaw(port, getRequest(path, { Connection: 'close' }))

const hasProc = await access('/proc/self/task').then(
  () => true,
  () => false,
)

describe('with WORKERS=2', () => {
  test('the last line of the start names the URL once, and both workers answer there', async () => {
    const server = await started()
    const lines = server.stdout.filter((line) => !line.startsWith('{'))
    expect(lines).toEqual([`Millrace is listening on http://localhost:${server.port}`])
    for (let index = 0; index < 8; index += 1) expect((await get(server.port, '/lab')).status).toBe(200)
    await expect.poll(() => answering(server), PATIENCE).toEqual(new Set([1, 2]))
    await server.stop()
    // No line is cut by another process.
    expect(server.logs()).toHaveLength(server.stdout.length - 1)
  })

  test.runIf(hasProc)('killing one disturbs nobody at the other, and another takes its place', async () => {
    const server = await started()
    // One connection each: they are handed out in turn.
    using first = await connectRaw(server.port)
    using second = await connectRaw(server.port)
    for (const connection of [first, second]) {
      await connection.send(getRequest('/lab/stream?delay=1500'))
      expect((await connection.receive(12)).toString()).toBe('HTTP/1.1 200')
    }
    const before = await childrenOf(server.pid)
    expect(before).toHaveLength(2)
    process.kill(before[0] ?? 0, 'SIGKILL')
    const texts = await Promise.all(
      [first, second].map(async (connection) => {
        await connection.send(getRequest('/healthz', { Connection: 'close' }))
        return (await connection.end()).rest.toString()
      }),
    )
    const whole = texts.filter((text) => text.includes('Arrived 1500 ms after the shell') && text.endsWith('ok\n'))
    expect(whole).toHaveLength(1)
    await expect
      .poll(async () => (await statusOf(server.port, '/lab')) === 200 && answering(server).has(3), PATIENCE)
      .toBe(true)
    expect(server.logs()).toContainEqual(expect.objectContaining({ msg: 'worker has died', signal: 'SIGKILL' }))
    expect(await childrenOf(server.pid)).toHaveLength(2)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  // Young ones are replaced after a second, when all are known to be dead; old ones at once.
  test.runIf(hasProc).for([
    ['young', 0],
    ['old', YOUNG_MS],
  ] as const)('killing all of them leaves the URL as it was: %s', async ([, age]) => {
    const server = await started()
    await delay(age)
    for (const pid of await childrenOf(server.pid)) process.kill(pid, 'SIGKILL')
    await expect.poll(() => statusOf(server.port, '/lab'), PATIENCE).toBe(200)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test.runIf(hasProc)('killing the primary leaves no worker behind', async () => {
    const server = await started()
    const workers = await childrenOf(server.pid)
    server.kill('SIGKILL')
    await expect.poll(() => workers.filter(isAlive), PATIENCE).toEqual([])
  })

  test('SIGTERM lets documents of all workers finish whole, and ends with 0', async () => {
    const server = await started()
    const connections = await Promise.all([1, 2, 3, 4].map(() => connectRaw(server.port)))
    for (const connection of connections) {
      await connection.send(getRequest('/lab/stream?delay=800', { Connection: 'close' }))
      expect((await connection.receive(12)).toString()).toBe('HTTP/1.1 200')
    }
    server.kill('SIGTERM')
    for (const connection of connections) {
      const { how, rest } = await connection.end()
      expect([how, rest.toString().endsWith('\r\n0\r\n\r\n')]).toEqual(['fin', true])
    }
    expect(await server.exited).toEqual({ code: 0, signal: null })
    expect(server.logs().at(-1)).toMatchObject({ orderly: true, msg: 'stopped' })
    expect(server.stderr()).toBe('')
  })

  test('SIGTERM cuts what is not finished in time, and ends with 1', async () => {
    const server = await started({ SHUTDOWN_GRACE_MS: '200' })
    using busy = await connectRaw(server.port)
    await busy.send(getRequest('/lab/stream?delay=5000'))
    expect((await busy.receive(12)).toString()).toBe('HTTP/1.1 200')
    server.kill('SIGTERM')
    expect((await busy.end()).rest.toString()).not.toMatch(/\r\n0\r\n/)
    expect(await server.exited).toEqual({ code: 1, signal: null })
  })

  test.runIf(hasProc).for(['SIGINT', 'SIGHUP'] as const)(
    '%s to all processes at once is one signal',
    async (signal) => {
      const server = await started({ SHUTDOWN_DELAY_MS: '300' })
      const workers = await childrenOf(server.pid)
      server.kill(signal)
      for (const pid of workers) process.kill(pid, signal)
      expect(await server.exited).toEqual({ code: 0, signal: null })
    },
  )

  test('a second signal ends all at once', async () => {
    const server = await started({ SHUTDOWN_DELAY_MS: '60000', SHUTDOWN_GRACE_MS: '60000' })
    server.kill('SIGTERM')
    await expect.poll(async () => (await get(server.port, '/readyz')).status, PATIENCE).toBe(503)
    server.kill('SIGINT')
    expect(await server.exited).toEqual({ code: 1, signal: null })
  })
})

describe('a start that cannot be says so once, and ends with 1', () => {
  /** Runs the server until it ends by itself. */
  async function run(env: Readonly<Record<string, string>>) {
    const { PATH = '' } = process.env
    const child = spawn(process.execPath, ['dist/server/main.js'], {
      cwd: PROJECT,
      env: { PATH, HOST: '127.0.0.1', WORKERS: '3', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    onTestFinished(() => void child.kill('SIGKILL'))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stderr }
  }

  /** A port that somebody else has. */
  async function taken(): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return (server.address() as AddressInfo).port
  }

  test('for a wrong value', async () => {
    const { code, stderr } = await run({ PORT: 'x' })
    expect([code, stderr.split('\n').length]).toEqual([1, 2])
    expect(stderr).toMatch(/^PORT: /)
  })

  test('for a port that is taken', async () => {
    const port = await taken()
    const { code, stderr } = await run({ PORT: String(port) })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      new RegExp(`^PORT: cannot listen on 127\\.0\\.0\\.1:${port}: [^\n]+ \\(for example PORT=[^\n]+\\)\n$`),
    )
  })

  test('for a metrics port that is taken', async () => {
    const port = await taken()
    const { code, stderr } = await run({ PORT: '0', METRICS_PORT: String(port) })
    expect(code).toBe(1)
    expect(stderr).toMatch(new RegExp(`^METRICS_PORT: cannot listen on 127\\.0\\.0\\.1:${port}: [^\n]+\n$`))
  })
})
