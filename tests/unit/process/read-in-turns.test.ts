import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { resetOverrun } from '../../../src/server/http/overrun.ts'
import { createReadingTurns } from '../../../src/server/process/read-in-turns.ts'

const [CHUNK, MOST_CHUNKS] = [32_768, 256]

/** A connection that has sent this many bytes since it was paused. */
class FakeSocket extends EventEmitter {
  readableLength: number
  state = 'open'
  constructor(sent = 0) {
    super()
    this.readableLength = sent
  }
  pause = (): void => void (this.state = 'paused')
  resume = (): void => void (this.state = 'open')
  resetAndDestroy(): void {
    this.state = 'reset'
    this.emit('close')
  }
}

function setUp() {
  const due: (() => void)[] = []
  const gaps: number[] = []
  const clock = { ms: 0, round: 1 }
  const turns = createReadingTurns({
    now: () => clock.ms,
    nextTurn(run) {
      clock.ms += clock.round
      run()
    },
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
  return {
    clock,
    gaps,
    open,
    overrun: (socket: FakeSocket) => resetOverrun(socket as unknown as Socket),
    gap: () => due.splice(0).forEach((run) => run()),
  }
}

const statesOf = (sockets: readonly FakeSocket[]): string[] => sockets.map(({ state }) => state)

test('after an overrun, connections of its client go on one by one, and those that have sent nothing with the next', () => {
  const { open, overrun, gap } = setUp()
  const cause = open('a')
  const sockets = [open('a', CHUNK), open('a'), open('a', CHUNK), open('a')]
  const other = open('b', CHUNK)
  overrun(cause)
  expect(statesOf(sockets)).toEqual(['paused', 'paused', 'paused', 'paused'])
  gap()
  expect(statesOf(sockets)).toEqual(['open', 'paused', 'paused', 'paused'])
  const late = open('a')
  expect(late.state).toBe('paused')
  gap()
  expect(statesOf(sockets)).toEqual(['open', 'open', 'open', 'paused'])
  gap()
  expect(statesOf([...sockets, late])).toEqual(['open', 'open', 'open', 'open', 'open'])
  expect(open('a').state).toBe('open')
  expect([other.state, cause.state]).toEqual(['open', 'reset'])
})

test('a second overrun pauses those again that have gone on, in one line', () => {
  const { open, overrun, gap } = setUp()
  const cause = open('a')
  const [first, second, third] = [open('a', CHUNK), open('a', CHUNK), open('a', CHUNK)]
  overrun(cause)
  gap()
  overrun(first)
  gap()
  expect(statesOf([second, third])).toEqual(['open', 'paused'])
  overrun(second)
  gap()
  expect(third.state).toBe('open')
})

test('those that have sent little go on together', () => {
  const { open, overrun, gap } = setUp()
  const cause = open('a')
  const small = Array.from({ length: 64 }, () => open('a', 500))
  const large = [open('a', CHUNK), open('a', CHUNK)]
  overrun(cause)
  gap()
  expect(new Set(statesOf(small))).toEqual(new Set(['open']))
  expect(statesOf(large)).toEqual(['open', 'paused'])
})

test('of those that hold more memory than a client may, the largest are reset', () => {
  const { open, overrun, gap } = setUp()
  const cause = open('a')
  const small = open('a', 500)
  const large = Array.from({ length: MOST_CHUNKS }, () => open('a', CHUNK))
  const last = open('a', CHUNK + 1)
  overrun(cause)
  gap()
  expect([small.state, last.state]).toEqual(['open', 'reset'])
  expect(statesOf(large).filter((state) => state === 'reset')).toHaveLength(1)
})

test('connections that close meanwhile leave the line', () => {
  const { open, overrun, gap } = setUp()
  const cause = open('a')
  const [first, second] = [open('a', CHUNK), open('a', CHUNK)]
  overrun(cause)
  first.resetAndDestroy()
  gap()
  expect(second.state).toBe('open')
})

test('reading takes half of the time at most', () => {
  const { clock, gaps, open, overrun, gap } = setUp()
  const cause = open('a')
  for (let at = 0; at < 3; at += 1) open('a', CHUNK)
  overrun(cause)
  clock.round = 70
  gap()
  expect(gaps).toEqual([20, 70])
})
