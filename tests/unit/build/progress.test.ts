import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTerminal } from '../../../scripts/command/terminal.ts'
import { createProgress } from '../../../scripts/dev/tell/progress.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What a stream gets while an update takes so long. */
async function written(seconds: number, isTTY: boolean, isBuilt = true): Promise<readonly string[]> {
  const texts: string[] = []
  const write = (text: unknown) => texts.push(String(text)) > 0
  const output = createTerminal({ isTTY, columns: 30, write })
  const progress = createProgress(output, () => Date.now())
  const { promise, resolve } = Promise.withResolvers<boolean>()
  progress.note('packages')
  const done = progress.during(promise)
  await vi.advanceTimersByTimeAsync(seconds * 1_000)
  resolve(isBuilt)
  expect(await done).toBe(isBuilt)
  return texts
}

test('a build that takes long is two lines, and a short one is none', async () => {
  expect(await written(12.34, false)).toEqual(['Building …\n', 'Built in 12.3 s.\n'])
  expect(await written(12.34, false, false)).toEqual(['Building …\n'])
  expect(await written(0.9, false)).toEqual([])
})

test('in a terminal, one line is replaced each second, and what is printed comes above it', async () => {
  expect(await written(2.5, true)).toEqual([
    'Building (packages) … 1.0 s',
    '\r\u001B[2K',
    'Building (packages) … 2.0 s',
    '\r\u001B[2K',
    '',
    'Built in 2.5 s.\n',
  ])
  const texts: string[] = []
  const { print, status } = createTerminal({ isTTY: true, columns: 10, write: (text) => texts.push(String(text)) > 0 })
  status?.('A long status')
  print('A line')
  expect(texts.join('')).toBe('A long st\r\u001B[2KA line\nA long st')
})
