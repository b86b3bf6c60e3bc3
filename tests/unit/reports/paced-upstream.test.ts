import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPacedUpstream } from '../../../src/server/reports/delivery/paced-upstream.ts'
import type { UpstreamAnswer } from '../../../src/server/reports/delivery/upstream.ts'

function paced() {
  const state = { now: 0, sent: 0, idle: 0.2, asked: 0, timers: new Map<() => void, number>() }
  const answered: UpstreamAnswer = { kind: 'answered', status: 200 }
  const upstream = {
    send: (_: Buffer, __: object, signal: AbortSignal) => {
      state.sent += 1
      return Promise.resolve<UpstreamAnswer>(signal.aborted ? { kind: 'unreachable', reason: 'given up' } : answered)
    },
    dispose: () => undefined,
  }
  const { send } = createPacedUpstream(upstream, {
    now: () => state.now,
    idleShare() {
      state.asked += 1
      return state.idle
    },
    after(milliseconds, run) {
      state.timers.set(run, state.now + milliseconds)
      return () => void state.timers.delete(run)
    },
  })
  const start = (signal = new AbortController().signal) => send(Buffer.from(''), {}, signal)
  async function advance(milliseconds: number): Promise<void> {
    state.now += milliseconds
    for (const [run, at] of state.timers) {
      if (at > state.now) continue
      state.timers.delete(run)
      run()
    }
    await turn()
  }
  return { state, start, advance }
}

test('a hundred envelopes go at once, and then eight hundred a second', async () => {
  const { state, start, advance } = paced()
  const all = Array.from({ length: 200 }, () => start())
  await turn()
  expect(state.sent).toBe(100)
  await advance(80)
  expect(state.sent).toBe(164)
  await advance(80)
  expect((await Promise.all(all)).every(({ kind }) => kind === 'answered')).toBe(true)
  expect(state.timers.size).toBe(0)
})

/** Keeps as many waiting as the drainer does, for so many pauses. @returns how many went in each. */
async function backlog(pauses: number, idle: (pause: number) => number): Promise<number[]> {
  const { state, start, advance } = paced()
  const line = { waiting: 0 }
  const fill = async (): Promise<void> => {
    for (let before = -1; before !== state.sent;) {
      before = state.sent
      for (; line.waiting < 16; line.waiting += 1) void start().then(() => (line.waiting -= 1))
      await turn()
    }
  }
  await fill()
  const went: number[] = []
  for (let pause = 0; pause < pauses; pause += 1) {
    const before = state.sent
    state.idle = idle(pause)
    await advance(80)
    await fill()
    went.push(state.sent - before)
  }
  return went
}

test('a process with nothing else to do sends faster and faster, up to 6,400 a second', async () => {
  const went = await backlog(8, () => 0.9)
  expect(went[0]).toBe(96)
  expect(went.slice(0, 5)).toEqual(went.slice(0, 5).toSorted((a, b) => a - b))
  expect(went.at(-1)).toBe(512)
})

test('once pages want the processor it sends less again, but never less than 800 a second', async () => {
  const went = await backlog(16, (pause) => (pause < 6 ? 0.9 : 0.05))
  expect(went[5]).toBe(512)
  expect(went.slice(6)).toEqual(went.slice(6).toSorted((a, b) => b - a))
  expect(went.slice(-2)).toEqual([64, 64])
})

test('as long as some of the processor is left, the pace is kept', async () => {
  expect(await backlog(4, () => 0.2)).toEqual([64, 64, 64, 64])
})

test('how idle it was a while ago does not count', async () => {
  const { state, start, advance } = paced()
  const all = Array.from({ length: 102 }, () => start())
  await advance(80)
  expect(state.asked).toBe(2)
  state.now += 60_000
  all.push(...Array.from({ length: 102 }, () => start()))
  expect(state.asked).toBe(3)
  await advance(80)
  expect(await Promise.all(all)).toHaveLength(204)
})

test('what comes in a pause goes with the others, and as many behind it as there is room for', async () => {
  const { state, start, advance } = paced()
  const all = Array.from({ length: 101 }, () => start())
  await advance(40)
  all.push(start())
  await turn()
  expect(state.sent).toBe(100)
  expect(state.timers.size).toBe(1)
  await advance(40)
  expect(state.sent).toBe(102)
  all.push(...Array.from({ length: 63 }, () => start()))
  await turn()
  expect(state.sent).toBe(164)
  await advance(80)
  expect(await Promise.all(all)).toHaveLength(165)
})

test('what waits is given up with the rest', async () => {
  const { state, start } = paced()
  const end = new AbortController()
  const all = Array.from({ length: 101 }, () => start(end.signal))
  await turn()
  end.abort()
  expect((await Promise.all(all)).at(-1)).toMatchObject({ kind: 'unreachable' })
  expect(state.timers.size).toBe(0)
})
