import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { action, type ActionCall } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { portOf } from '../support/listening.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { fallbacks, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const HEAD = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
const END = '\r\n--x--\r\n'
const MEGABYTE = Buffer.alloc(1_048_576, 'millrace ')

/** A server with one action of uploads, and a folder for what it stores. */
async function uploadApp(handler: (call: ActionCall<unknown>, folder: string) => Promise<unknown>) {
  const stored = await makeTempDir('stored')
  const over = Promise.withResolvers<unknown>()
  const store = action({
    input: z.unknown(),
    upload: { files: 1, fileBytes: 8_000_000 },
    handler(call) {
      const result = handler(call, stored.path)
      result.then(over.resolve, over.resolve)
      return result
    },
  })
  const { app, logs } = tinyApp({
    routes: { '/': { ...fallbacks('root') }, '/form': { page: page(() => <p>form</p>) } } as never,
    actions: { [MODULE]: { store } },
    environment: { TRUST_PROXY: '127.0.0.1' },
  })
  onTestFinished(() => stored.remove())
  const port = await portOf(app)

  /** Begins an upload, and leaves its end to the test. */
  function begin(
    length?: number,
    client = '203.0.113.9',
  ): { readonly sending: ClientRequest; readonly answer: Promise<IncomingMessage> } {
    const sending = request({
      port,
      method: 'POST',
      path: `/form?_action=${actionId(MODULE, 'store')}.0`,
      headers: {
        'Content-Type': 'multipart/form-data; boundary=x',
        'X-Forwarded-For': client,
        ...(length === undefined ? {} : { 'Content-Length': length }),
      },
    })
    const answer = once(sending, 'response').then(([got]) => got as IncomingMessage)
    answer.catch(() => undefined)
    sending.on('error', () => undefined)
    sending.write(HEAD)
    return { sending, answer }
  }
  return { begin, logs, over: over.promise, files: () => readdir(stored.path) }
}

/** What a careful handler does: nothing half-written stays. */
async function storeFile({ files }: ActionCall<unknown>, folder: string): Promise<void> {
  for await (const { stream } of files) {
    const path = join(folder, 'a.bin')
    try {
      await pipeline(stream, createWriteStream(path))
    } catch (thrown) {
      await rm(path, { force: true })
      throw thrown
    }
  }
}

/** As fast as it is taken, until the connection ends. */
async function sendMegabytes(sending: ClientRequest, times: number): Promise<void> {
  const closed = once(sending, 'close')
  for (let time = 0; time < times && !sending.destroyed; time += 1) {
    const drained = new Promise<void>((resolve) => sending.write(MEGABYTE, () => resolve()))
    await Promise.race([drained, closed])
  }
}

describe('an upload', () => {
  test('is stored as a whole', async () => {
    const { begin, files } = await uploadApp(storeFile)
    const { sending, answer } = begin()
    sending.write(MEGABYTE)
    sending.end(END)
    expect((await answer).statusCode).toBe(303)
    expect(await files()).toEqual(['a.bin'])
  })

  test('that the client gives up ends the handler, leaves nothing, and is no failure', async () => {
    const aborted = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const { begin, over, files, logs } = await uploadApp(async (call, folder) => {
      call.signal.addEventListener('abort', () => aborted.resolve())
      started.resolve()
      await storeFile(call, folder)
    })
    const { sending } = begin()
    await sendMegabytes(sending, 2)
    await started.promise
    sending.destroy()
    expect(await over).toBeInstanceOf(Error)
    await aborted.promise
    expect(await files()).toEqual([])
    expect(logs.filter(({ msg }) => msg === 'uncaught failure')).toEqual([])
  })

  test('that the handler gives up is answered at once, however much is still to come', async () => {
    const { begin } = await uploadApp(async ({ files }) => {
      for await (const { stream } of files) {
        await once(stream, 'readable')
        break
      }
      throw new Error('seen enough')
    })
    const { sending, answer } = begin(7_000_000)
    await sendMegabytes(sending, 1)
    const { statusCode, headers } = await answer
    expect([statusCode, headers['connection']]).toEqual([500, 'close'])
  })

  test('over the limit of a file is refused by 413, and nothing of it stays', async () => {
    const { begin, over, files } = await uploadApp(storeFile)
    const { sending, answer } = begin()
    // The answer is out long before; the connection may be closed while the client still sends.
    const sent = sendMegabytes(sending, 12).catch(() => undefined)
    expect((await answer).statusCode).toBe(413)
    await sent
    expect(await over).toBeInstanceOf(Error)
    expect(await files()).toEqual([])
  })

  test('that says in advance that it is too large is refused before the handler runs', async () => {
    let ran = false
    const { begin } = await uploadApp(() => {
      ran = true
      return Promise.resolve()
    })
    expect((await begin(100_000_000).answer).statusCode).toBe(413)
    expect(ran).toBe(false)
  })
})

test('uploads of one client leave others theirs, however slowly they come', async () => {
  const MOST_OF_ONE = 500
  let running = 0
  const { begin } = await uploadApp(async ({ files }) => {
    running += 1
    for await (const { stream } of files) for await (const _ of stream) continue
  })
  const greedy = Array.from({ length: MOST_OF_ONE }, () => begin())
  onTestFinished(() => greedy.forEach(({ sending }) => sending.destroy()))
  await expect.poll(() => running, { timeout: 20_000 }).toBe(MOST_OF_ONE)
  expect((await begin().answer).statusCode).toBe(503)
  const other = begin(undefined, '198.51.100.7')
  await expect.poll(() => running).toBe(MOST_OF_ONE + 1)
  other.sending.end(END)
  expect((await other.answer).statusCode).toBe(303)
  greedy[0]?.sending.destroy()
  await expect
    .poll(async () => {
      const again = begin()
      again.sending.end(END)
      return (await again.answer).statusCode
    })
    .toBe(303)
})

test('an upload is counted until its handler has settled, also if its client has left', async () => {
  const MOST_OF_ONE = 500
  const held = Promise.withResolvers<undefined>()
  let running = 0
  const { begin, logs } = await uploadApp(async () => {
    running += 1
    await held.promise
  })
  const left = Array.from({ length: MOST_OF_ONE }, () => begin())
  await expect.poll(() => running, { timeout: 20_000 }).toBe(MOST_OF_ONE)
  for (const { sending } of left) sending.destroy()
  await expect.poll(() => logs.filter(({ aborted }) => aborted === true).length).toBe(MOST_OF_ONE)
  expect((await begin().answer).statusCode).toBe(503)
  held.resolve(undefined)
  const again = begin()
  again.sending.end(END)
  expect((await again.answer).statusCode).toBe(303)
})
