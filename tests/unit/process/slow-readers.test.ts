import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  endSlowReaders,
  judgeReader,
  type ConnectionQueue,
  type QueueState,
} from '../../../src/server/process/slow-readers.ts'

const CHUNK = Buffer.alloc(1_000_000)

describe('an answer that is not taken', () => {
  /** Looks at a queue as it was at each time, and gives the verdict of the last look. */
  function after(
    ...looks: readonly (readonly [at: number, queue: ConnectionQueue])[]
  ): QueueState | 'late' | undefined {
    let state: QueueState | 'late' | undefined
    for (const [at, queue] of looks) if (state !== 'late') state = judgeReader(state, queue, at)
    return state
  }
  const queue = (bytesWritten: number, writableLength: number): ConnectionQueue => ({ bytesWritten, writableLength })

  test('has half a minute, and a second more for each 4 KiB of it', () => {
    const stuck = queue(50_000, 40_960)
    expect(after([0, stuck], [40_000, stuck])).toEqual({ left: 9_040, until: 40_000 })
    expect(after([0, stuck], [40_001, stuck])).toBe('late')
  })

  test('has its time again whenever a piece has left', () => {
    expect(after([0, queue(50_000, 4_096)], [30_000, queue(60_000, 8_192)], [61_000, queue(60_000, 8_192)])).toEqual({
      left: 51_808,
      until: 62_000,
    })
  })

  test('does not get more time by being longer', () => {
    expect(after([0, queue(4_096, 4_096)], [31_001, queue(90_000, 90_000)])).toBe('late')
  })

  test('is forgotten once nothing is queued', () => {
    expect(after([0, queue(4_096, 4_096)], [90_000, queue(4_096, 0)], [90_001, queue(9_000, 100)])).toMatchObject({
      until: 120_001 + (100 / 4_096) * 1_000,
    })
  })
})

test('a connection whose client stopped reading is reset, and one that is quiet is not', async () => {
  const answers: ServerResponse[] = []
  const server = createServer((req, res) => {
    answers.push(res)
    if (req.url === '/quiet') return void res.write('an event')
    const fill = (): void => {
      while (res.write(CHUNK));
    }
    res.on('drain', fill)
    fill()
  })
  const clock = { now: 0, look: (): void => undefined }
  endSlowReaders(server, { now: () => clock.now, every: (_milliseconds, look) => void (clock.look = look) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const ask = async (path: string) => {
    const before = answers.length
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
    socket.on('error', () => undefined)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await expect.poll(() => answers.length).toBe(before + 1)
    return answers.at(-1)
  }
  const quiet = await ask('/quiet')
  const stuck = await ask('/stuck')
  await expect.poll(() => stuck?.writableNeedDrain).toBe(true)
  const lookAnHourLater = (): boolean | undefined => {
    clock.now += 3_600_000
    clock.look()
    return stuck?.closed
  }
  await expect.poll(lookAnHourLater).toBe(true)
  expect(quiet?.closed).toBe(false)
})
