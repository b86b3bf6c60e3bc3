/** The suites of `npm test` for its arguments. */
import { findChromium, HOW_TO_GET_CHROMIUM } from '../../tests/support/chromium.ts'
import { findProgram, howToGet, PROGRAMS } from '../../tests/support/programs.ts'
import { staleness } from '../build/output/build-info.ts'
import { readBuildArguments } from '../build/project/locate-application.ts'
import { runCommand } from './run-command.ts'
import { asCount } from './source-checks.ts'
import type { Suite, SuiteCount } from './suite.ts'
import type { TestArguments } from './test-arguments.ts'
import {
  chooseFiles,
  groupByProject,
  listTestFiles,
  needsBuild,
  projectReader,
  type TestProject,
} from './test-files.ts'
import { coverageOptions, runVitest } from './vitest-run.ts'

const BUILD_LIMIT_MS = 300_000 // a build that takes longer hangs
const CONTAINER_LIMIT_MS = 1_200_000 // the image is built from packages that must be downloaded
const FUZZ_LIMIT_MS = 900_000 // three times what all targets take
const SMOKE = 'tests/browser/smoke.test.ts'
/** Files that build several applications or start several processes: ten seconds each and more. */
const SLOW = '**/*.slow.test.*'

const TITLES: Readonly<Record<TestProject, string>> = {
  unit: 'Unit tests',
  http: 'HTTP tests',
  browser: 'Browser tests',
  engines: 'Other browsers',
  ops: 'Operations',
  package: 'The package',
  soak: 'Packages, kept pages, pictures',
}

/** Parts of every suite. */
interface TestSetup {
  /** The project's folder. */
  readonly root: string
  /** `REQUIRE_*`, `CHROMIUM_PATH` and the variables of the build. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Options of vitest. */
  readonly options: readonly string[]
  readonly coverage: boolean
}

/**
 * Lists the suites that run after the checks of the sources.
 * @param root the project's folder.
 * @throws {ArgumentFault} for a word that matches nothing.
 */
export async function testSuites(root: string, args: TestArguments, env: TestSetup['env']): Promise<readonly Suite[]> {
  const setup: TestSetup = { root, env, options: args.vitest, coverage: args.coverage === true }
  if (args.mode === 'words') return chosenSuites(setup, args.words)
  const basics = [programs(setup), build(setup)]
  if (args.mode === 'soak')
    return [build(setup), project(setup, 'soak'), fuzzing(setup), container(setup, { options: ['--twice'] })]
  if (args.mode === 'quick') {
    const quick = { ...setup, options: [...setup.options, '--exclude', SLOW] }
    return [...basics, project(quick, 'unit'), project(quick, 'http'), inBrowser(setup, 'Browser smoke', [SMOKE])]
  }
  return [
    ...basics,
    project(setup, 'unit'),
    project(setup, 'http'),
    inBrowser(setup, TITLES.browser),
    project(setup, 'engines'),
    project(setup, 'ops'),
    beside(TITLES.engines, container(setup, { isCollected: true })),
    beside(TITLES.engines, project(setup, 'package', { isCollected: true })),
  ]
}

/** Tests of one browser at a time wait more than they work: what installs and builds takes little of their time. */
function beside(title: string, suite: Suite): Suite {
  return { ...suite, beside: title }
}

async function chosenSuites(setup: TestSetup, words: readonly string[]): Promise<readonly Suite[]> {
  const files = chooseFiles(await listTestFiles(setup.root), words, setup.root)
  const suites = groupByProject(files).map(([name, own]) =>
    name === 'browser' ? inBrowser(setup, TITLES.browser, own) : project(setup, name, { files: own }),
  )
  return [...(await buildFor(setup, files)), ...suites]
}

/** The build, if one of these files needs it and it is stale. */
async function buildFor(setup: Pick<TestSetup, 'root' | 'env'>, files: readonly string[]): Promise<readonly Suite[]> {
  const read = projectReader(setup.root)
  return files.some((file) => needsBuild(file, read)) && (await isStale(setup)) ? [build(setup)] : []
}

/** A run of vitest that waits for saves. */
export interface Watch {
  /** What has to pass before it. */
  readonly suites: readonly Suite[]
  /** Arguments of vitest. */
  readonly vitest: readonly string[]
}

/**
 * Describes what `--watch` runs: the chosen files at once, and again on each save that concerns them. Without words no
 * file runs at first, because all of them take minutes; a save runs the unit and HTTP tests that it concerns.
 * @throws {ArgumentFault} for a word that matches nothing.
 */
export async function watchTests(root: string, args: TestArguments, env: TestSetup['env']): Promise<Watch> {
  const all = await listTestFiles(root)
  const files = args.mode === 'words' ? chooseFiles(all, args.words, root) : []
  const projects = args.mode === 'words' ? groupByProject(files).map(([name]) => name) : (['unit', 'http'] as const)
  return {
    suites: await buildFor({ root, env }, files),
    vitest: [
      'watch',
      ...projects.map((name) => `--project=${name}`),
      ...(files.length === 0 ? ['--standalone', '--exclude', SLOW] : []),
      ...(args.coverage === true ? coverageOptions('watch', false) : []),
      ...args.vitest,
      ...files,
    ],
  }
}

function project(
  { root, options, coverage }: TestSetup,
  name: TestProject,
  {
    files,
    isCollected = false,
  }: { readonly files?: readonly string[] | undefined; readonly isCollected?: boolean } = {},
): Suite {
  const covered = coverage ? coverageOptions(name, files === undefined) : []
  return {
    title: TITLES[name],
    counts: 'tests',
    run: (print) =>
      runVitest(root, {
        project: name,
        options: [...covered, ...options],
        ...(files !== undefined && { files }),
        print: isCollected ? print : undefined,
      }),
  }
}

function inBrowser(setup: TestSetup, title: string, files?: readonly string[]): Suite {
  const { run } = project(setup, 'browser', { files })
  return {
    title,
    counts: 'tests',
    run: async (print) =>
      findChromium(setup.env) === undefined
        ? missing('no Chromium found', HOW_TO_GET_CHROMIUM, setup.env['REQUIRE_BROWSER'] === '1')
        : run(print),
  }
}

/** Programs that tests need besides npm packages. Tests skip if their program is missing. */
function programs({ env }: TestSetup): Suite {
  return {
    title: 'Programs',
    counts: 'check',
    run: async () => {
      const absent = PROGRAMS.filter((name) => findProgram(name) === undefined)
      if (absent.length === 0) return asCount(true)
      return missing(`some tests need ${absent.join(', ')}`, howToGet(absent), env['REQUIRE_PROGRAMS'] === '1')
    },
  }
}

function missing(what: string, remedy: string, required: boolean): SuiteCount {
  return { passed: 0, failed: required ? 1 : 0, note: `${what}. ${remedy}` }
}

async function isStale({ root, env }: Pick<TestSetup, 'root' | 'env'>): Promise<boolean> {
  return staleness(await readBuildArguments([], { cwd: root }), env) !== undefined
}

function build({ root }: Pick<TestSetup, 'root'>): Suite {
  return {
    title: 'Build',
    counts: 'check',
    run: async () => asCount(await succeeds(root, BUILD, BUILD_LIMIT_MS)),
  }
}

/** Prints its own checks, or the reason why it cannot run. */
function container(
  { root }: TestSetup,
  { options = [], isCollected = false }: { readonly options?: readonly string[]; readonly isCollected?: boolean },
): Suite {
  return {
    title: 'Container',
    counts: 'check',
    run: async (print) => {
      const { code, output } = await runCommand(process.execPath, ['scripts/container-check.ts', ...options], {
        cwd: root,
        timeoutMs: CONTAINER_LIMIT_MS,
        output: isCollected ? 'collect' : 'inherit',
      })
      if (isCollected) print(output)
      return asCount(code === 0)
    },
  }
}

function fuzzing({ root }: TestSetup): Suite {
  return {
    title: 'Fuzzing',
    counts: 'check',
    run: async () => asCount(await succeeds(root, ['scripts/fuzz.ts'], FUZZ_LIMIT_MS)),
  }
}

const BUILD = ['--conditions=millrace-source', 'bin/millrace.js', 'build'] as const

async function succeeds(root: string, command: readonly string[], timeoutMs: number): Promise<boolean> {
  return (await runCommand(process.execPath, command, { cwd: root, timeoutMs })).code === 0
}
