/**
 * Sends envelopes of one size over ten connections for a time, each with an event id of its own, from a
 * thousand clients. Prints how many were answered by 200, and how many a second; ends with 1 at any other answer.
 *
 *     node envelope-load.ts <port> <path> <DSN> <bytes> <seconds>
 */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'

const CONNECTIONS = 10 // as the other loads
const ANSWER = /^HTTP\/1\.1 (\d{3})[^]*?\r\n\r\n/
const ID = 'f'.repeat(32)
const ADDRESS = '10.100.100.100'

const [, , port = '', path = '', dsn = '', bytes = '', seconds = ''] = process.argv

/** The request, whose id and address are written over before it is sent. */
function template(): { readonly bytes: Buffer; readonly ids: readonly number[]; readonly address: number } {
  const lines = (filling: string): string =>
    [
      JSON.stringify({ event_id: ID, dsn, sdk: { name: 'sentry.javascript.react', version: '11.10.0' } }),
      JSON.stringify({ type: 'event' }),
      JSON.stringify({
        event_id: ID,
        platform: 'javascript',
        exception: { values: [{ type: 'Error', value: 'The mill has stopped' }] },
        extra: { filling },
      }),
    ].join('\n')
  const body = lines('x'.repeat(Number(bytes) - lines('').length))
  const head =
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${ADDRESS}\r\n` +
    `Content-Type: text/plain;charset=UTF-8\r\nContent-Length: ${body.length}\r\n\r\n`
  const text = head + body
  const ids = [text.indexOf(ID), text.lastIndexOf(ID)]
  return { bytes: Buffer.from(text), ids, address: text.indexOf(ADDRESS) }
}

const { bytes: sample, ids, address } = template()
const until = performance.now() + Number(seconds) * 1_000
const counts = { sent: 0, answered: 0 }

/** Of a thousand addresses in turn: no client is so fast that it is limited. */
function next(): Buffer {
  const request = Buffer.from(sample)
  const id = randomBytes(16).toString('hex')
  for (const at of ids) request.write(id, at, 'latin1')
  const number = counts.sent
  request.write(`10.100.${100 + (Math.floor(number / 100) % 10)}.${100 + (number % 100)}`, address, 'latin1')
  counts.sent += 1
  return request
}

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => void socket.write(next()))
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      const head = ANSWER.exec(text)
      if (head === null) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head[0])?.[1] ?? 0)
      const whole = /\r\ntransfer-encoding: chunked/i.test(head[0])
        ? text.endsWith('0\r\n\r\n')
        : text.length >= head[0].length + length
      if (!whole) return
      text = ''
      if (head[1] !== '200') return reject(new Error(`Answered by ${head[1]}`))
      counts.answered += 1
      if (performance.now() < until) socket.write(next())
      else socket.end(resolve)
    })
    socket.once('error', reject)
  })
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: CONNECTIONS }, run))
const took = (performance.now() - startedAt) / 1_000
console.log(JSON.stringify({ answered: counts.answered, rate: counts.answered / took }))
