import { describe, expect, test } from 'vitest'
import { ArgumentFault, readTestArguments } from '../../../scripts/checks/test-arguments.ts'

test('without arguments it is the quick run, with --all everything', () => {
  expect(readTestArguments([])).toEqual({ mode: 'quick', words: [], vitest: [] })
  expect(readTestArguments(['--all'])).toEqual({ mode: 'all', words: [], vitest: [] })
  expect(readTestArguments(['--soak'])).toEqual({ mode: 'soak', words: [], vitest: [] })
})

test('words choose files', () => {
  expect(readTestArguments(['guestbook', 'tests/unit/routing'])).toEqual({
    mode: 'words',
    words: ['guestbook', 'tests/unit/routing'],
    vitest: [],
  })
})

test('--watch and --coverage are this command’s own, and stand beside words and options', () => {
  const words = { mode: 'words', words: ['guestbook'], vitest: ['--retry=0'] }
  expect(readTestArguments(['guestbook', '--watch', '--retry=0'])).toEqual({ ...words, watches: true })
  expect(readTestArguments(['-w', '--coverage'])).toEqual({
    mode: 'quick',
    words: [],
    vitest: [],
    watches: true,
    coverage: true,
  })
  expect(readTestArguments(['--coverage', 'guestbook', '--retry=0'])).toEqual({ ...words, coverage: true })
})

test('an empty word chooses nothing, and is not every file', () => {
  expect(readTestArguments([''])).toEqual({ mode: 'quick', words: [], vitest: [] })
})

describe('options of vitest', () => {
  test.for([
    [['--retry=0'], 'quick', [], ['--retry=0']],
    [['--retry', '0'], 'quick', [], ['--retry', '0']],
    [['--all', '--retry=0', '--bail=1'], 'all', [], ['--retry=0', '--bail=1']],
    [['guestbook', '-t', 'an entry'], 'words', ['guestbook'], ['-t', 'an entry']],
    [['-t=an entry', '--update', 'guestbook'], 'words', ['guestbook'], ['-t=an entry', '--update']],
    [['--sequence.shuffle', 'rules'], 'words', ['rules'], ['--sequence.shuffle']],
  ] as const)('%j go to vitest, a value of their own included', ([args, mode, words, vitest]) => {
    expect(readTestArguments(args)).toEqual({ mode, words, vitest })
  })
})

test.for([
  [['--quick'], '--quick'],
  [['--al'], '--al'],
  [['--all=1'], '--all=1'],
  [['--project', 'unit'], '--project'],
  [['-x', 'guestbook'], '-x'],
  [['--update=yes'], '--update=yes'],
  [['guestbook', '--retry'], '--retry'],
  [['-t', '--all'], '-t'],
  [['--all', 'guestbook'], 'guestbook'],
  [['--all', '--watch'], '--watch'],
  [['--soak', 'guestbook'], 'guestbook'],
  [['--soak', '--watch'], '--watch'],
  [['--all', '--soak'], '--soak'],
  [['--watch=yes'], '--watch=yes'],
  [['--coverage=src', 'guestbook'], '--coverage=src'],
] as const)('%j are refused with one line that names %s', ([args, culprit]) => {
  const fault = (() => {
    try {
      return readTestArguments(args)
    } catch (error) {
      return error
    }
  })()
  expect(fault).toBeInstanceOf(ArgumentFault)
  const { message } = fault as ArgumentFault
  expect(message).toContain(culprit)
  expect(message).not.toContain('\n')
})

test.for(['--help', '-h'])('%s asks for help, whatever is beside it', (help) => {
  expect(readTestArguments([help])).toBe('help')
  expect(readTestArguments(['--retry=0', help])).toBe('help')
})
