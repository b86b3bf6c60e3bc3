import type { IncomingMessage } from 'node:http'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { type FormBody } from '../../../src/server/http/body/read-body.ts'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import type { UploadedFile } from '../../../src/server/http/body/uploaded-file.ts'
import { connectRaw } from '../../support/raw-http.ts'
import { AMPLE, disposition, FINAL, MULTIPART, part, withBodies, type Taken } from './body-server.ts'

const STREAMED = { ...AMPLE, streamed: true }

function formOf(taken: Taken): FormBody {
  if ('fault' in taken) throw taken.fault
  if (taken.body.kind !== 'form') throw new TypeError('no form')
  return taken.body
}

async function textOf({ stream }: UploadedFile): Promise<string> {
  return Buffer.concat((await stream.toArray()) as Buffer[]).toString()
}

/** Sends a body and lets the handler have it; gives what the handler gave. */
async function upload<Result>(
  body: string | Uint8Array,
  handle: (body: FormBody, req: IncomingMessage) => Promise<Result>,
  limits: Partial<typeof STREAMED> = {},
): Promise<Result> {
  const result = Promise.withResolvers<Result>()
  result.promise.catch(() => undefined)
  await withBodies(
    { ...STREAMED, ...limits },
    (taken, req, res) => {
      const handled = (async () => handle(formOf(taken), req))()
      handled.then(result.resolve, result.reject)
      return handled.catch(() => undefined).then(() => (res.shouldKeepAlive = false))
    },
    async (port) => {
      using client = await connectRaw(port)
      client.socket.on('error', () => undefined)
      const bytes = Buffer.from(body)
      const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${bytes.length}\r\n\r\n`
      await client.send(head)
      await client.send(bytes)
      await Promise.race([client.response().catch(() => undefined), result.promise.catch(() => undefined)])
    },
  )
  return result.promise
}

const TWO_FILES =
  part(disposition('a'), '1') +
  part(`${disposition('one', 'd/1.txt')}\r\nContent-Type: text/x`, 'first') +
  part(disposition('b'), '2') +
  part(disposition('two', '2.txt'), '') +
  part(disposition('none', ''), '') +
  part(disposition('go'), 'send') +
  FINAL

describe('files are handed on in their order', () => {
  test('with the fields that stand before them', async () => {
    const seen = await upload(TWO_FILES, async ({ fields, files }, req) => {
      const before = fields.map(([name]) => name)
      const list: unknown[] = []
      for await (const file of files) list.push([file.field, file.name, file.type, await textOf(file)])
      return { before, list, after: fields.map(([name]) => name), complete: req.complete }
    })
    expect(seen).toEqual({
      before: ['a'],
      list: [
        ['one', '1.txt', 'text/x', 'first'],
        ['two', '2.txt', 'text/plain', ''],
      ],
      after: ['a', 'b', 'go'],
      complete: true,
    })
  })

  test('a file that nobody reads is passed over', async () => {
    const names = await upload(TWO_FILES, async ({ files }) => {
      const list: string[] = []
      for await (const file of files) list.push(file.name)
      return list
    })
    expect(names).toEqual(['1.txt', '2.txt'])
  })

  test('a file that is being read is waited for', async () => {
    const texts = await upload(TWO_FILES, async ({ files }) => {
      const reading: Promise<string>[] = []
      for await (const file of files) reading.push(textOf(file))
      return Promise.all(reading)
    })
    expect(texts).toEqual(['first', ''])
  })

  test('a file can be read behind the loop that has found it', async () => {
    const text = await upload(TWO_FILES, async ({ files }) => {
      let found: UploadedFile | undefined
      for await (const file of files) {
        found = file
        break
      }
      return found === undefined ? undefined : textOf(found)
    })
    expect(text).toBe('first')
  })

  test('one whose reader gives up does not keep the next one back', async () => {
    const names = await upload(TWO_FILES, async ({ files }) => {
      const list: string[] = []
      for await (const file of files) {
        file.stream.once('data', () => file.stream.destroy())
        list.push(file.name)
      }
      return list
    })
    expect(names).toEqual(['1.txt', '2.txt'])
  })

  test('a form without files has none', async () => {
    const count = await upload(part(disposition('a'), '1') + part(disposition('f', ''), '') + FINAL, async (body) => {
      let files = 0
      for await (const _ of body.files) files += 1
      return [files, body.fields.length]
    })
    expect(count).toEqual([0, 1])
  })
})

describe('a fault reaches the handler by the stream and by the iteration', () => {
  test.for<[string, string, object, Partial<typeof STREAMED>]>([
    [
      'a file over its limit',
      part(disposition('f', 'n'), 'abcd') + part(disposition('g', 'n'), '') + FINAL,
      { status: 413 },
      { fileBytes: 3 },
    ],
    ['no final boundary', part(disposition('f', 'n'), 'abc'), { status: 400 }, {}],
    ['more than was allowed in all', part(disposition('f', 'n'), 'abcdef') + FINAL, { status: 413 }, { bytes: 60 }],
  ])('%s', async ([, body, fault, limits]) => {
    const chunked = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const seen: unknown[] = []
    const handled = Promise.withResolvers<void>()
    await withBodies(
      { ...STREAMED, ...limits },
      async (taken, _req, res) => {
        res.shouldKeepAlive = false
        if ('fault' in taken) seen.push(taken.fault, taken.fault)
        else {
          const files = formOf(taken).files[Symbol.asyncIterator]()
          const { value } = await files.next()
          await (value as UploadedFile).stream.toArray().catch((error: unknown) => seen.push(error))
          await files.next().catch((error: unknown) => seen.push(error))
        }
        handled.resolve()
      },
      async (port) => {
        using client = await connectRaw(port)
        await client.send(
          `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART}\r\nTransfer-Encoding: chunked\r\n\r\n`,
        )
        await client.send(chunked)
        await handled.promise
      },
    )
    expect(seen).toHaveLength(2)
    expect(seen[0]).toBeInstanceOf(BodyError)
    expect(seen[0]).toMatchObject(fault)
    expect(seen[1]).toBe(seen[0])
  })

  test('one file too many fails behind those that were allowed', async () => {
    const seen: string[] = []
    const handled = upload(
      TWO_FILES,
      async ({ files }) => {
        for await (const file of files) seen.push(await textOf(file))
      },
      { files: 1 },
    )
    await expect(handled).rejects.toMatchObject({ status: 413, limit: { name: 'files', maximum: 1 } })
    expect(seen).toEqual(['first'])
  })

  test('a stream that nobody looks at does not end the process', async () => {
    const taken = await upload(part(disposition('f', 'n'), 'abc'), async ({ files }) => {
      const { value } = await files[Symbol.asyncIterator]().next()
      ;(value as UploadedFile).stream.resume()
      await new Promise((closed) => (value as UploadedFile).stream.once('close', closed))
      return 'alive'
    })
    expect(taken).toBe('alive')
  })
})

test('the socket is not read while the handler does not read', async () => {
  const size = 30_000_000
  const head = part(disposition('f', 'n'), '').slice(0, -2)
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(size, 'x'), Buffer.from(`\r\n${FINAL}`)])
  const seen = await upload(
    body,
    async ({ files }, req) => {
      for await (const file of files) {
        // Everything that can arrive by itself has arrived when the socket has been still for some turns.
        let last = -1
        for (let turns = 0; turns < 200; turns += 1) {
          await new Promise((next) => setImmediate(next))
          if (req.socket.bytesRead !== last) turns = 0
          last = req.socket.bytesRead
        }
        const unasked = req.socket.bytesRead
        let received = 0
        let mostHeld = 0
        await pipeline(
          file.stream,
          new Writable({
            write(chunk: Buffer, _encoding, done) {
              received += chunk.length
              mostHeld = Math.max(mostHeld, req.socket.bytesRead - received)
              setImmediate(done)
            },
          }),
        )
        return { unasked, received, mostHeld }
      }
      return undefined
    },
    { bytes: 2 * size, fileBytes: size },
  )
  expect(seen?.received).toBe(size)
  expect(seen?.unasked).toBeLessThan(1_000_000)
  expect(seen?.mostHeld).toBeLessThan(1_000_000)
})

describe('a client that goes away', () => {
  test('at any byte leaves the handler with a fault and nothing behind', async () => {
    const request = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${TWO_FILES.length}\r\n\r\n`
    const outcomes = new Set<string>()
    for (const streamed of [true, false]) {
      const requests: IncomingMessage[] = []
      const faults: unknown[] = []
      let ended: PromiseWithResolvers<void>
      await withBodies(
        { ...AMPLE, streamed },
        async (taken, req) => {
          requests.push(req)
          try {
            for await (const file of formOf(taken).files) await textOf(file)
            faults.push(undefined)
          } catch (fault) {
            faults.push(fault)
          }
          ended.resolve()
        },
        async (port) => {
          for (let cut = 0; cut < TWO_FILES.length; cut += 7) {
            ended = Promise.withResolvers()
            const client = await connectRaw(port)
            await client.send(request + TWO_FILES.slice(0, cut))
            client.socket.resetAndDestroy()
            await ended.promise
          }
        },
      )
      for (const fault of faults) outcomes.add((fault as Error).message)
      for (const req of requests) {
        expect(req.listenerCount('readable') + req.listenerCount('error') + req.listenerCount('data')).toBe(0)
        expect(req.destroyed).toBe(true)
      }
    }
    expect([...outcomes]).toEqual(['gone'])
  })

  test('while the handler does not read cuts the file off', async () => {
    const fault = await (async () => {
      const seen = Promise.withResolvers<unknown>()
      await withBodies(
        STREAMED,
        async (taken) => {
          const { value } = await formOf(taken).files[Symbol.asyncIterator]().next()
          ;(value as UploadedFile).stream.once('error', seen.resolve)
          await seen.promise
        },
        async (port) => {
          const client = await connectRaw(port)
          await client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART}\r\nContent-Length: 1000\r\n\r\n`)
          await client.send(part(disposition('f', 'n'), 'abc'))
          client.socket.resetAndDestroy()
          await seen.promise
        },
      )
      return seen.promise
    })()
    expect(fault).toMatchObject({ message: 'gone' })
  })
})

describe('on a body that has come half-way', () => {
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${TWO_FILES.length}\r\n\r\n`
  const half = TWO_FILES.indexOf('first') + 2

  test.for([true, false])(
    'what is discarded is over: file, iteration and socket (file being read: %s)',
    async (read) => {
      await withBodies(
        STREAMED,
        async (taken, req, res) => {
          const body = formOf(taken)
          const files = body.files[Symbol.asyncIterator]()
          const { stream } = (await files.next()).value as UploadedFile
          if (read) {
            stream.resume()
            await new Promise((data) => stream.once('data', data))
            await new Promise((waiting) => setImmediate(waiting))
            const waiting = files.next()
            body.discard()
            expect(await waiting).toEqual({ done: true, value: undefined })
          } else body.discard()
          expect(stream.destroyed).toBe(true)
          expect(await files.next()).toEqual({ done: true, value: undefined })
          expect(req.listenerCount('readable')).toBe(0)
          res.shouldKeepAlive = false
        },
        async (port) => {
          using client = await connectRaw(port)
          await client.send(head + TWO_FILES.slice(0, half))
          expect((await client.response()).status).toBe(200)
        },
      )
    },
  )

  test('a reader that gives up while it waits does not disturb the next file', async () => {
    const asked = Promise.withResolvers<void>()
    const names: string[] = []
    await withBodies(
      STREAMED,
      async (taken) => {
        const files = formOf(taken).files[Symbol.asyncIterator]()
        const { stream } = (await files.next()).value as UploadedFile
        stream.resume()
        await new Promise((data) => stream.once('data', data))
        await new Promise((waiting) => setImmediate(waiting))
        stream.destroy()
        const next = files.next()
        await new Promise((turn) => setImmediate(turn))
        asked.resolve()
        names.push(((await next).value as UploadedFile).name)
      },
      async (port) => {
        using client = await connectRaw(port)
        await client.send(head + TWO_FILES.slice(0, half))
        await asked.promise
        await client.send(TWO_FILES.slice(half))
        expect((await client.response()).status).toBe(200)
      },
    )
    expect(names).toEqual(['2.txt'])
  })
})
