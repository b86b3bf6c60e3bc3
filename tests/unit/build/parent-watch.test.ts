import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { endWithParent } from '../../../scripts/command/parent-watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function started(env: NodeJS.ProcessEnv, ppid = 20) {
  const self = { ppid, pid: 21, env, kill: vi.fn<(pid: number, signal: NodeJS.Signals) => void>() }
  endWithParent(self)
  return self
}

test('a command of an npm script ends once its shell has ended, by the signal that the shell has got', () => {
  const self = started({ npm_lifecycle_event: 'dev' })
  vi.advanceTimersByTime(60_000)
  expect(self.kill).not.toHaveBeenCalled()
  self.ppid = 1
  vi.advanceTimersByTime(60_000)
  expect(self.kill.mock.calls).toEqual([[21, 'SIGTERM']])
})

test('a command that no npm script has started, or whose shell had ended before, outlives its parent', () => {
  const others = [started({}), started({ npm_lifecycle_event: 'dev' }, 1)]
  for (const self of others) self.ppid = 2
  vi.advanceTimersByTime(60_000)
  expect(others.flatMap(({ kill }) => kill.mock.calls)).toEqual([])
})
