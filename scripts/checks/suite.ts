import type { TestCount } from './vitest-run.ts'

/** Prints a line, or several with line breaks between them. */
export type Print = (text: string) => void

/** A part of a test run that prints a line of its own. */
export interface Suite {
  readonly title: string
  /** Whether it counts tests, or itself as one check. A run without any test has failed. */
  readonly counts: 'tests' | 'check'
  /**
   * The title of an earlier suite that leaves the processor idle: this one begins with it, after those before it that do so
   * too. Its line still comes in its place.
   */
  readonly beside?: string
  /**
   * @param print prints a line. Unless suites run concurrently, their programs may also write to the terminal.
   * @throws {Error} if it could not run, which counts as one failure.
   */
  run(print: Print): Promise<SuiteCount>
}

/** Result of a suite: number of tests, or of checks. */
export interface SuiteCount extends TestCount {
  /** Why nothing ran, or what was left out: one line. */
  readonly note?: string
}

/** A suite after its run. */
export interface SuiteResult extends SuiteCount {
  readonly title: string
  readonly counts: Suite['counts']
  readonly elapsedMs: number
}

const TITLE_COLUMN = 24
const COUNT_COLUMN = 26
const TIME_COLUMN = 9

/**
 * Runs suites one after the other, even after a failure, save those that say beside which they run.
 * @param suites in the order in which they run.
 * @param print receives a heading before each suite, and its line after it.
 * @param now monotonic milliseconds.
 */
export async function runSuites(suites: readonly Suite[], print: Print, now: () => number): Promise<SuiteResult[]> {
  const results: SuiteResult[] = []
  const begun = new Map<Suite, ReturnType<typeof runCollected>>()
  for (const suite of suites) {
    let former: Promise<unknown> = Promise.resolve()
    for (const other of suites.filter(({ beside }) => beside === suite.title)) {
      const run = former.then(() => runCollected(other, now))
      begun.set(other, run)
      former = run
    }
    results.push(await printed(suite, begun.get(suite), print, now))
  }
  return results
}

async function printed(
  suite: Suite,
  begun: ReturnType<typeof runCollected> | undefined,
  print: Print,
  now: () => number,
): Promise<SuiteResult> {
  if (begun !== undefined) {
    const { result, lines } = await begun
    print(lines.join('\n'))
    return result
  }
  print(headingOf(suite))
  const result = await runSuite(suite, print, now)
  print(suiteLine(result))
  return result
}

async function runCollected(
  suite: Suite,
  now: () => number,
): Promise<{ readonly result: SuiteResult; readonly lines: readonly string[] }> {
  const lines = [headingOf(suite)]
  const result = await runSuite(suite, (line) => lines.push(line), now)
  return { result, lines: [...lines, suiteLine(result)] }
}

/** As `runSuites`, but concurrently: the output of each suite is printed after its end, in the order of the suites. */
export async function runSuitesAtOnce(
  suites: readonly Suite[],
  print: Print,
  now: () => number,
): Promise<SuiteResult[]> {
  const runs = suites.map((suite) => runCollected(suite, now))
  const results: SuiteResult[] = []
  for (const run of runs) {
    const { result, lines } = await run
    print(lines.join('\n'))
    results.push(result)
  }
  return results
}

const headingOf = (suite: Suite): string => `\n── ${suite.title} ──`

async function runSuite(suite: Suite, print: Print, now: () => number): Promise<SuiteResult> {
  const started = now()
  const count = await suite.run(print).catch((error: unknown): SuiteCount => {
    print(error instanceof Error ? error.message : String(error))
    return { passed: 0, failed: 1 }
  })
  return { title: suite.title, counts: suite.counts, ...count, elapsedMs: now() - started }
}

/** Whether there was a test, passed or failed. */
export function hasTests(results: readonly SuiteResult[]): boolean {
  return results.some(({ counts, passed, failed }) => counts === 'tests' && passed + failed > 0)
}

/** One line: result, name, count and time. */
export function suiteLine({ title, passed, failed, skipped = 0, elapsedMs, note }: SuiteResult): string {
  const state = failed > 0 ? 'FAILED' : passed > 0 ? 'ok' : 'skipped'
  const counts = [`${passed} passed`]
  if (failed > 0) counts.push(`${failed} failed`)
  if (skipped > 0) counts.push(`${skipped} skipped`)
  const time = `${(elapsedMs / 1000).toFixed(1)} s`.padStart(TIME_COLUMN)
  const line = `${state.padEnd(8)}${title.padEnd(TITLE_COLUMN)}${counts.join(', ').padEnd(COUNT_COLUMN)}${time}`
  return note === undefined ? line : `${line}  ${note}`
}

/**
 * The end of a run: a line for each suite, the total time, and `N passed, N failed` alone on the last line.
 * @param elapsedMs from the start of the first suite to the end of the last one.
 */
export function suiteSummary(results: readonly SuiteResult[], elapsedMs: number): string[] {
  const sum = (of: (result: SuiteResult) => number): number => results.reduce((total, result) => total + of(result), 0)
  return [
    '',
    ...results.map(suiteLine),
    `${(elapsedMs / 1000).toFixed(1)} s in all`,
    '',
    `${sum((result) => result.passed)} passed, ${sum((result) => result.failed)} failed`,
  ]
}
