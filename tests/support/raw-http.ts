/**
 * An HTTP/1.1 client made of a bare socket, for what a proper client hides: bytes that arrive one by one, broken
 * requests, the borders of chunks and when each came, truncated answers, and readers that stop reading.
 * Nothing is read from the socket but by a call, so a test that stops calling is a slow client.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { createByteSource } from './byte-source.ts'
import { readResponse } from './raw-response.ts'
import type { RawResponse } from './raw-response.ts'

/** How bytes go out. */
export interface SendOptions {
  /** Bytes of one write, each its own turn of the event loop; everything at once unless told. 1 splits everywhere. */
  readonly every?: number
}

/** How an answer is read. */
export interface ReadOptions {
  /** The request was `HEAD`: whatever the headers say, no body follows. */
  readonly head?: boolean
}

/** How the other side ended the connection. */
type ConnectionEnd = 'fin' | 'reset'

/** One connection. */
export interface RawConnection extends Disposable {
  readonly socket: Socket
  /** Writes bytes as they are. Stops without an error when the other side has closed. */
  send(bytes: string | Uint8Array, options?: SendOptions): Promise<void>
  /**
   * Reads the next answer, with the interim ones before it.
   * @throws {RawHttpError} when the connection ends before a whole head, or the answer breaks the grammar.
   */
  response(options?: ReadOptions): Promise<RawResponse>
  /** Reads exactly so many bytes, fewer only at the end of the connection. */
  receive(count: number): Promise<Buffer>
  /** Reads so many bytes of whatever comes, then drops the connection as a closed tab does. */
  abortAfter(count: number): Promise<void>
  /** Reads to the end and tells how it came. */
  end(): Promise<{ readonly how: ConnectionEnd; readonly rest: Buffer }>
}

/**
 * Connects.
 * @param port on `host`.
 * @param host loopback unless told.
 */
export async function connectRaw(port: number, host = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect({ port, host, noDelay: true, allowHalfOpen: true })
  await once(socket, 'connect')
  const source = createByteSource(socket)
  return {
    socket,
    send: (bytes, options) => send(socket, bytes, options),
    response: (options = {}) => readResponse(source, options.head ?? false),
    receive: (count) => source.take(count),
    async abortAfter(count) {
      await source.take(count)
      socket.resetAndDestroy()
    },
    async end() {
      const rest = await source.take(Number.POSITIVE_INFINITY)
      socket.destroy()
      return { how: source.failed() ? 'reset' : 'fin', rest }
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/**
 * One request on a connection of its own, which ends with the answer, whatever has been sent by then.
 * @param bytes the whole request, as it goes out.
 */
export async function requestRaw(
  port: number,
  bytes: string | Uint8Array,
  options: SendOptions & ReadOptions = {},
): Promise<RawResponse> {
  using connection = await connectRaw(port)
  void connection.send(bytes, options)
  return await connection.response(options)
}

/** A GET with what HTTP/1.1 asks for and nothing else. */
export function getRequest(path: string, headers: Readonly<Record<string, string>> = {}, host = 'localhost'): string {
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

async function send(socket: Socket, bytes: string | Uint8Array, { every }: SendOptions = {}): Promise<void> {
  const data = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes
  const step = every ?? Math.max(data.length, 1)
  for (let start = 0; start < data.length && socket.writable; start += step) {
    const piece = data.subarray(start, start + step)
    await new Promise<void>((done) => socket.write(piece, () => setImmediate(done)))
  }
}
