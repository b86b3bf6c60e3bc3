import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { noteRequest } from '../../../src/server/http/parsed-work.ts'
import { createReadingTurns } from '../../../src/server/process/read-in-turns.ts'

const [CHUNK, MOST_CHUNKS] = [32_768, 256]
const MOST_IN_ROUND = 256

/** A connection that has sent this many bytes since it was paused. */
class FakeSocket extends EventEmitter {
  readableLength: number
  state = 'open'
  constructor(sent = 0) {
    super()
    this.readableLength = sent
  }
  pause = (): void => void (this.state = 'paused')
  resume(): void {
    this.state = 'open'
    this.emit('resume')
  }
  resetAndDestroy(): void {
    this.state = 'reset'
    this.emit('close')
  }
}

function setUp() {
  const [due, ends]: [(() => void)[], (() => void)[]] = [[], []]
  const gaps: number[] = []
  const clock = { ms: 0 }
  const turns = createReadingTurns({
    now: () => clock.ms,
    nextTurn: (run) => ends.push(run),
    later(run, milliseconds) {
      due.push(run)
      gaps.push(milliseconds)
    },
  })
  const open = (client: string, sent?: number): FakeSocket => {
    const socket = new FakeSocket(sent)
    turns.add(client, socket as unknown as Socket)
    return socket
  }
  const endRound = (ms = 1): void => {
    clock.ms += ms
    ends.splice(0).forEach((run) => run())
  }
  return {
    clock,
    gaps,
    open,
    pipeline(socket: FakeSocket, requests = MOST_IN_ROUND): void {
      const res = { socket: null } as ServerResponse
      for (let at = 0; at < requests; at += 1) noteRequest(socket as unknown as Socket, res)
    },
    endRound,
    /** The rest of this round, the gap, and what goes on then. */
    gap(): void {
      endRound()
      due.splice(0).forEach((run) => run())
    },
  }
}

const statesOf = (sockets: readonly FakeSocket[]): string => sockets.map(({ state }) => state[0]).join('')

describe('a client that pipelines many requests in one round', () => {
  test('has its connections read one after the other, and those that have sent little before', () => {
    const { open, pipeline, gap } = setUp()
    const sockets = [open('a', CHUNK), open('a', 500), open('a', CHUNK), open('a')]
    const other = open('b', CHUNK)
    const [cause] = sockets as [FakeSocket]
    pipeline(cause, MOST_IN_ROUND - 1)
    expect(statesOf(sockets)).toBe('oooo')
    pipeline(cause, 1)
    expect(statesOf(sockets)).toBe('pppp')
    gap()
    expect(statesOf(sockets)).toBe('oopo')
    const late = open('a')
    expect(late.state).toBe('paused')
    gap()
    expect(statesOf([...sockets, late])).toBe('ooooo')
    expect(other.state).toBe('open')
  })

  test('is forgotten ten seconds later', () => {
    const { clock, open, pipeline, gap } = setUp()
    const cause = open('a')
    pipeline(cause)
    cause.resetAndDestroy()
    gap()
    expect(open('a').state).toBe('paused')
    gap()
    clock.ms += 10_000
    gap()
    expect(open('a').state).toBe('open')
  })

  test('is judged by each round for itself', () => {
    const { open, pipeline, endRound } = setUp()
    const socket = open('a')
    for (let round = 0; round < 3; round += 1) {
      pipeline(socket, MOST_IN_ROUND - 1)
      endRound()
    }
    expect(socket.state).toBe('open')
  })

  test('is read in turn with other such clients, of which no two are read in one round', () => {
    const { open, pipeline, gap } = setUp()
    const [one, two] = [
      [open('a', CHUNK), open('a', CHUNK)],
      [open('b', CHUNK), open('b', CHUNK)],
    ] as const
    pipeline(one[0])
    expect(statesOf([...one, ...two])).toBe('ppoo')
    pipeline(two[0])
    expect(statesOf([...one, ...two])).toBe('pppp')
    gap()
    expect(statesOf([...one, ...two])).toBe('oppp')
    gap()
    expect(statesOf([...one, ...two])).toBe('opop')
    pipeline(two[0])
    expect(statesOf([...one, ...two])).toBe('pppp')
  })

  test('takes half of the time at most', () => {
    const { gaps, open, pipeline, endRound } = setUp()
    pipeline(open('a'))
    endRound(70)
    expect(gaps).toEqual([70])
  })

  test('loses the connections that have sent most, when paused ones hold more memory than it may', () => {
    const { open, pipeline, gap } = setUp()
    const small = open('a', 500)
    const large = Array.from({ length: MOST_CHUNKS }, () => open('a', CHUNK))
    const last = open('a', CHUNK + 1)
    pipeline(small)
    gap()
    expect(statesOf([small, last])).toBe('or')
    expect(statesOf(large).match(/r/g)).toHaveLength(1)
  })

  test('loses them, too, when those of all such clients hold more than that eight times', () => {
    const { open, pipeline, gap } = setUp()
    const sockets = Array.from({ length: 9 }, (_, at) => {
      const own = Array.from({ length: MOST_CHUNKS }, () => open(`client ${at}`, CHUNK))
      pipeline(own[0] as FakeSocket)
      return own
    }).flat()
    gap()
    expect(statesOf(sockets).match(/r/g)).toHaveLength(MOST_CHUNKS)
  })

  test('has a paused connection stay so that Node reads on after an answer', () => {
    const { open, pipeline, gap } = setUp()
    const [one, two] = [open('a', CHUNK), open('a', CHUNK)]
    pipeline(one)
    two.resume()
    expect(two.state).toBe('paused')
    gap()
    gap()
    two.resume()
    expect(two.state).toBe('open')
  })

  test('may close connections meanwhile', () => {
    const { open, pipeline, gap } = setUp()
    const [first, second] = [open('a', CHUNK), open('a', CHUNK)]
    pipeline(first)
    first.resetAndDestroy()
    gap()
    expect(second.state).toBe('open')
  })

  test('has its connections close without the stacks of what waits on them', () => {
    const { open, pipeline } = setUp()
    const limits: number[] = []
    const socket = open('a', CHUNK)
    // As Node's own listener, which makes an error for each request.
    socket.on('close', () => limits.push(Error.stackTraceLimit))
    const before = Error.stackTraceLimit
    pipeline(socket)
    socket.resetAndDestroy()
    expect(limits).toEqual([0])
    expect(Error.stackTraceLimit).toBe(before)
  })
})
