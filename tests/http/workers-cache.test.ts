import { Agent, request } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { submitForm } from 'millrace/testing'
import { serverOfTest } from '../support/server-of-test.ts'

vi.setConfig({ testTimeout: 90_000 }) // a start of three processes, on a busy machine

/** A visitor with one connection, and so with one worker: connections are handed out in turn. */
function visitor(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string | Buffer) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      request({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => (text += part))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      })
        .on('error', reject)
        .end(body)
    })
  const page = () => ask('GET', '/lab/shared/1')
  return {
    madeAt: async () => Number(/data-testid="made-at">(\d+)</.exec((await page()).text)?.[1]),
    drop: async () => {
      const { url, headers, body } = await submitForm((await page()).text, '#drop-form')
      return (await ask('POST', url, { ...headers, 'Sec-Fetch-Site': 'same-origin' }, body)).status
    },
  }
}

test('what an action of one worker drops is dropped by all workers before the action is answered', async () => {
  const server = await serverOfTest({ env: { WORKERS: '3', LOG_LEVEL: 'info' } })
  const visitors = [visitor(server.port), visitor(server.port), visitor(server.port)]
  const before: number[] = []
  for (const each of visitors) before.push(await each.madeAt())
  // Each worker has made its own; from here on nobody makes another one.
  for (const [index, each] of visitors.entries()) expect(await each.madeAt()).toBe(before[index])
  const workers = (): Set<unknown> =>
    new Set(server.logs().flatMap(({ worker, route }) => (route === '/lab/shared/[key]' ? [worker] : [])))
  await expect.poll(() => workers().size, { timeout: 45_000 }).toBe(3)
  const droppedAt = Date.now()
  expect(await visitors[0]?.drop()).toBe(303)
  for (const each of visitors) expect(await each.madeAt()).toBeGreaterThanOrEqual(droppedAt)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})
