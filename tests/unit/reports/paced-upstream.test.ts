import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPacedUpstream } from '../../../src/server/reports/paced-upstream.ts'
import type { UpstreamAnswer } from '../../../src/server/reports/upstream.ts'

function paced() {
  const state = { now: 0, sent: 0, timers: new Map<() => void, number>() }
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
