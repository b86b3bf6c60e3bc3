import { describe, expect, test } from 'vitest'
import { createCallsOnce } from '../../../src/server/routes/actions/call-once.ts'
import { createKeptAllowance } from '../../../src/server/routes/actions/kept-allowance.ts'
import type { FinishedCall } from '../../../src/server/routes/actions/run-action.ts'
import { createOnceStore } from '../../../src/server/stores/once-store.ts'
import { openRuntimeDatabase } from '../../../src/server/stores/runtime-database.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const BOUNDS = { keys: 3, bytes: 100, lifetimeMs: 1_000 }

describe('what is kept of the calls of one client', () => {
  test.for([
    ['is bounded by number', [10, 10, 10, 10], [true, true, true, false]],
    ['is bounded by bytes', [60, 60, 30], [true, false, true]],
  ] as const)('%s', ([, sizes, verdicts]) => {
    const allowance = createKeptAllowance(BOUNDS)
    expect(sizes.map((bytes) => allowance.take('a', bytes, 0))).toEqual(verdicts)
    expect(allowance.take('b', 100, 0)).toBe(true)
  })

  test.for([
    [999, false],
    // The time before counts for one more time: what was kept at its end is still there.
    [1_000, false],
    [2_000, true],
    [9_000, true],
  ] as const)('may be more at %i ms: %s', ([at, allowed]) => {
    const allowance = createKeptAllowance(BOUNDS)
    allowance.take('a', 100, 0)
    if (at === 2_000) allowance.take('b', 1, 1_000)
    expect(allowance.take('a', 1, at)).toBe(allowed)
  })
})

test('one client that makes calls without end pushes out no result of another, and its calls run', async () => {
  const folder = await makeTempDir('kept')
  const database = openRuntimeDatabase(folder.path)
  try {
    const store = createOnceStore(database, { keys: 6, bytes: 10_000, sweepEvery: 1, countEvery: 1 })
    const calls = createCallsOnce({ once: store }, () => 0, createKeptAllowance(BOUNDS))
    const runs = new Map<string, number>()
    const call = (key: string, address: string): Promise<FinishedCall | 'running'> =>
      calls.run(
        { sent: key, repeated: () => key },
        async () => {
          runs.set(key, (runs.get(key) ?? 0) + 1)
          return { outcome: { kind: 'value', value: 1 }, revalidate: [] }
        },
        { provenance: { address }, headers: new Headers(), log: { warn: () => undefined } } as never,
      )
    await call('honest', '203.0.113.9')
    for (let at = 0; at < 50; at += 1) await call(`greedy ${at}`, '198.51.100.7')
    expect(runs.size).toBe(51)
    await call('honest', '203.0.113.9')
    expect(runs.get('honest')).toBe(1)
  } finally {
    database.dispose()
    await folder.remove()
  }
})
