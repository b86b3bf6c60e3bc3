import { expect, test } from 'vitest'
import { gatherLines } from '../../../src/server/process/gathered-log.ts'

function log(most: number) {
  const written: string[] = []
  const destination = {
    write: (text: string) => void written.push(text),
    flushSync: () => void written.push('(waited)'),
  }
  return { written, ...gatherLines(destination, most) }
}

test('lines are written together, in order, never more at once than may be', () => {
  const { written, write, flush } = log(10)
  for (const line of ['one\n', 'two\n', 'three\n', 'a very long one\n', 'x\n']) write(line)
  expect(written).toEqual(['one\ntwo\n', 'three\n', 'a very long one\n'])
  flush()
  expect(written.slice(3)).toEqual(['x\n'])
})

test('nothing is written where nothing was said', () => {
  const { written, flush } = log(10)
  flush()
  expect(written).toEqual([])
})

test('who leaves waits until the last line is out', () => {
  const { written, write, flushSync } = log(10)
  write('last\n')
  flushSync()
  expect(written).toEqual(['last\n', '(waited)'])
})
