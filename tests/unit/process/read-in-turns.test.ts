import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { resetOverrun } from '../../../src/server/http/overrun.ts'
import { createReadingTurns } from '../../../src/server/process/read-in-turns.ts'

const MOST_PAUSED = 256

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
  const turns = createReadingTurns((run) => due.push(run))
  const open = (client: string, sent?: number): FakeSocket => {
    const socket = new FakeSocket(sent)
    turns.add(client, socket as unknown as Socket)
    return socket
  }
  return {
    open,
    overrun: (socket: FakeSocket) => resetOverrun(socket as unknown as Socket),
    gap: () => due.splice(0).forEach((run) => run()),
  }
}

const statesOf = (sockets: readonly FakeSocket[]): string[] => sockets.map(({ state }) => state)

test('after an overrun, connections of its client go on one by one, and those that have sent nothing with the next', () => {
  const { open, overrun, gap } = setUp()
  const cause = open('a')
  const sockets = [open('a', 5), open('a'), open('a', 5), open('a')]
  const other = open('b', 5)
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
  const [first, second, third] = [open('a', 5), open('a', 5), open('a', 5)]
  overrun(cause)
  gap()
  overrun(first)
  gap()
  expect(statesOf([second, third])).toEqual(['open', 'paused'])
  overrun(second)
  gap()
  expect(third.state).toBe('open')
})

test('no more connections of a client are paused than it may hold memory for', () => {
  const { open, overrun } = setUp()
  const cause = open('a')
  const sockets = Array.from({ length: MOST_PAUSED + 2 }, () => open('a', 5))
  overrun(cause)
  expect(statesOf(sockets).filter((state) => state === 'paused')).toHaveLength(MOST_PAUSED)
  expect(statesOf(sockets.slice(-2))).toEqual(['reset', 'reset'])
})

test('connections that close meanwhile leave the line', () => {
  const { open, overrun, gap } = setUp()
  const cause = open('a')
  const [first, second] = [open('a', 5), open('a', 5)]
  overrun(cause)
  first.resetAndDestroy()
  gap()
  expect(second.state).toBe('open')
})
