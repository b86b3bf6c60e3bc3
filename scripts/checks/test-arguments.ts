/** What `npm test` runs. */
type TestMode = 'quick' | 'all' | 'soak' | 'words'

/** The parsed arguments of `npm test`. */
export interface TestArguments {
  readonly mode: TestMode
  /** Parts of paths, any of which may match; empty except in the mode `words`. */
  readonly words: readonly string[]
  /** Options that are passed to vitest. */
  readonly vitest: readonly string[]
  /** Runs tests again on each save. */
  readonly watches?: true
  /** Reports which lines of the sources have run. */
  readonly coverage?: true
}

/** The user's own mistake: one line, no stack. */
export class ArgumentFault extends Error {
  override readonly name = 'ArgumentFault'
}

/** What `npm test -- --help` prints. */
export const TEST_USAGE = `Usage: npm test [-- <words> | --all | --soak] [options of vitest]

  npm test                  types, lint, house rules, build, unit and HTTP tests, a smoke of the browser
  npm test -- --all         also slow files (*.slow.test.*), all browser files, other engines, operations, the package and
                            the container
  npm test -- --soak        what takes long and is in nothing else: an application with fifty packages from the registry,
                            kept pages in 10,000 random orders, pictures of pages, a minute of fuzzing for each parser,
                            the container twice
  npm test -- guestbook     only the test files whose path contains the word; several words are or-ed
  npm run check             types, lint and house rules alone

  --watch                   with words: runs these tests, and again on each save; without: unit and HTTP tests of what is saved
  --coverage                a summary of the lines that ran, and a page for each source in coverage/<project>

Options of vitest: --retry=0, -t <name of a test>, --bail=1, --reporter=verbose, --update, --testTimeout=<ms>,
--hookTimeout=<ms>, --maxWorkers=<n>, --sequence.shuffle, --sequence.seed=<n>, --silent, --no-file-parallelism.
For anything else run \`npx vitest --help\`.`

/** The options of vitest that are useful here, and whether a value follows. */
const VITEST_OPTIONS: ReadonlyMap<string, 'flag' | 'value'> = new Map([
  ['-t', 'value'],
  ['--testNamePattern', 'value'],
  ['--retry', 'value'],
  ['--bail', 'value'],
  ['--reporter', 'value'],
  ['--testTimeout', 'value'],
  ['--hookTimeout', 'value'],
  ['--maxWorkers', 'value'],
  ['--sequence.seed', 'value'],
  ['--sequence.shuffle', 'flag'],
  ['--silent', 'flag'],
  ['--no-file-parallelism', 'flag'],
  ['--update', 'flag'],
  ['-u', 'flag'],
])

/**
 * Parses the arguments of `npm test`.
 * @returns `help` if they request it.
 * @throws {ArgumentFault} for an option that neither this command nor vitest knows, or contradictory arguments.
 */
export function readTestArguments(args: readonly string[]): TestArguments | 'help' {
  const words: string[] = []
  const vitest: string[] = []
  const asked = { all: false, soak: false, watches: false, coverage: false }
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? ''
    if (argument === '-h' || argument === '--help') return 'help'
    if (argument === '--all') asked.all = true
    else if (argument === '--soak') asked.soak = true
    else if (argument === '--watch' || argument === '-w') asked.watches = true
    else if (argument === '--coverage') asked.coverage = true
    else if (argument.startsWith('-')) {
      vitest.push(argument)
      if (takesNext(argument)) {
        index += 1
        vitest.push(valueAfter(argument, args[index]))
      }
    } else if (argument.trim() !== '') words.push(argument)
  }
  const { all, soak, watches, coverage } = asked
  if (all && soak) throw new ArgumentFault('--all and --soak run different files; leave out one of them.')
  const whole = all ? '--all' : soak ? '--soak' : undefined
  if (whole !== undefined && words.length > 0) {
    throw new ArgumentFault(`${whole} chooses its test files; leave out ${words.join(' ')}, or leave out ${whole}.`)
  }
  if (whole !== undefined && watches) {
    throw new ArgumentFault(`--watch is for files that you work on; leave out ${whole}, and name them by words.`)
  }
  const mode = all ? 'all' : soak ? 'soak' : words.length > 0 ? 'words' : 'quick'
  return { mode, words, vitest, ...(watches && { watches }), ...(coverage && { coverage }) }
}

/** Whether the value of an option is the next argument. */
function takesNext(argument: string): boolean {
  const [name = '', value] = argument.split('=', 2)
  const kind = VITEST_OPTIONS.get(name)
  if (kind === undefined || (kind === 'flag' && value !== undefined)) {
    throw new ArgumentFault(`Unknown option ${argument}; \`npm test -- --help\` lists the options.`)
  }
  return kind === 'value' && value === undefined
}

function valueAfter(option: string, value: string | undefined): string {
  if (value === undefined || value.startsWith('-')) {
    throw new ArgumentFault(`Option ${option} needs a value; \`npm test -- --help\` lists the options.`)
  }
  return value
}
