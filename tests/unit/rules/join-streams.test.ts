import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import { joinStreams } from '../../../src/server/routes/proxy/join-streams.ts'

const IDLE_MS = 60_000

/** One end of a connection whose other end takes a write only when told. */
function slowConnection() {
  const taken: string[] = []
  const waiting: (() => void)[] = []
  const stream = new Duplex({
    read: () => undefined,
    write(bytes, _encoding, done) {
      waiting.push(() => {
        taken.push(String(bytes))
        done()
      })
    },
  })
  return { stream, taken, takeOne: () => waiting.shift()?.() }
}

it('a side that closes leaves the other one time for what is still on its way', async () => {
  const visitor = slowConnection()
  const upstream = slowConnection()
  joinStreams(visitor.stream, upstream.stream, IDLE_MS)
  upstream.stream.push('last words')
  upstream.stream.push(null)
  await once(upstream.stream, 'end')
  upstream.stream.destroy()
  await once(upstream.stream, 'close')
  expect([visitor.stream.destroyed, visitor.taken]).toEqual([false, []])
  visitor.takeOne()
  await once(visitor.stream, 'close')
  expect(visitor.taken).toEqual(['last words'])
})

it('a side that fails takes the other one along at once', async () => {
  const visitor = slowConnection()
  const upstream = slowConnection()
  joinStreams(visitor.stream, upstream.stream, IDLE_MS)
  upstream.stream.push('never taken')
  await once(upstream.stream, 'data')
  upstream.stream.destroy(new Error('reset'))
  await once(visitor.stream, 'close')
  expect(visitor.taken).toEqual([])
})
