import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeTempDir } from '../../support/temp-dir.ts'
import { ArgumentFault } from '../../../scripts/checks/test-arguments.ts'
import {
  chooseFiles,
  groupByProject,
  listTestFiles,
  needsBuild,
  projectReader,
} from '../../../scripts/checks/test-files.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const FILES = [
  'tests/browser/lab-actions.test.ts',
  'tests/http/actions.test.tsx',
  'tests/unit/actions/idempotent-calls.test.ts',
  'tests/unit/app/guestbook.test.ts',
  'tests/unit/rules/rules.test.ts',
]

const choose = (...words: readonly string[]) => chooseFiles(FILES, words, PROJECT)

describe('words', () => {
  test('choose the files whose path contains one of them', () => {
    expect(choose('guestbook')).toEqual(['tests/unit/app/guestbook.test.ts'])
    expect(choose('guestbook', 'rules')).toEqual(['tests/unit/app/guestbook.test.ts', 'tests/unit/rules/rules.test.ts'])
    expect(choose('guestbook', 'app')).toEqual(['tests/unit/app/guestbook.test.ts'])
    expect(choose('Guestbook')).toEqual(['tests/unit/app/guestbook.test.ts'])
  })

  test('may be paths, as a shell completes them', () => {
    const file = 'tests/unit/rules/rules.test.ts'
    expect(choose(file)).toEqual([file])
    expect(choose(`./${file}`)).toEqual([file])
    expect(choose(resolve(PROJECT, file))).toEqual([file])
    expect(choose('tests/unit/')).toEqual(FILES.slice(2))
  })

  test('that are in no path are refused, even beside others that are', () => {
    expect(() => choose('guestbook', 'gestbook')).toThrow(new ArgumentFault('No test file has "gestbook" in its path.'))
  })
})

test('files are grouped by project, in the order in which projects run', () => {
  expect(groupByProject(FILES)).toEqual([
    ['unit', FILES.slice(2)],
    ['http', ['tests/http/actions.test.tsx']],
    ['browser', ['tests/browser/lab-actions.test.ts']],
  ])
})

test('the list has the tests of every project that is there, and no helper', async () => {
  await using folder = await makeTempDir('files')
  for (const path of ['unit/a/one.test.ts', 'unit/a/world.ts', 'http/two.test.tsx', 'support/three.test.ts']) {
    await mkdir(join(folder.path, 'tests', dirname(path)), { recursive: true })
    await writeFile(join(folder.path, 'tests', path), '')
  }
  expect(await listTestFiles(folder.path)).toEqual(['tests/http/two.test.tsx', 'tests/unit/a/one.test.ts'])
})

describe('a build is needed', () => {
  const SOURCES: Readonly<Record<string, string>> = {
    'tests/http/near.test.ts': `import { startBuiltServer } from '../support/built-server.ts'\n`,
    'tests/http/far.test.ts': `import { open } from '../support/browser.ts'\n`,
    'tests/http/types.test.ts': `import type { BuiltServer } from '../support/built-server.ts'\n`,
    'tests/http/none.test.ts': `import { readFileSync } from 'node:fs'\nimport { app } from '../../src/app/app.ts'\n`,
    'tests/http/circle.test.ts': `import { open } from '../support/one.ts'\n`,
    'tests/support/one.ts': `import { two } from './two.ts'\n`,
    'tests/support/two.ts': `import { one } from './one.ts'\n`,
    'tests/support/browser.ts': `import { startBuiltServer } from './built-server.ts'\n`,
  }
  const read = (path: string): string => SOURCES[path] ?? expect.fail(`${path} need not be read`)

  test.for([
    ['near', true],
    ['far', true],
    ['types', false],
    ['none', false],
    ['circle', false],
  ] as const)('by %s: %s', ([name, needed]) => {
    expect(needsBuild(`tests/http/${name}.test.ts`, read)).toBe(needed)
  })
})

describe('npm test', () => {
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [resolve(PROJECT, 'scripts/test.ts'), ...args], { encoding: 'utf8' })

  test.for([
    ['--prot', 'Unknown option --prot; `npm test -- --help` lists the options.\n'],
    ['nowhere-to-be-found', 'No test file has "nowhere-to-be-found" in its path.\n'],
  ] as const)('%s is refused with one line, and runs nothing', ([argument, line]) => {
    const { status, stdout, stderr } = run(argument)
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: line })
  })

  test('a word runs its files alone, and counts them', () => {
    const { status, stdout } = run('unit/checks/test-arguments')
    expect(status).toBe(0)
    expect([...stdout.matchAll(/^── (.+) ──$/gm)].map(([, title]) => title)).toEqual(['Unit tests'])
    expect(stdout).toMatch(/^ok {6}Unit tests +[1-9]\d* passed +\d+\.\d s$/m)
    expect(stdout).toMatch(/\n\d+ passed, 0 failed\n$/)
  })

  test('a run in which no test ran has failed', () => {
    const { status, stdout } = run('unit/checks/test-arguments', '-t', 'no test is called so')
    expect(status).toBe(1)
    expect(stdout).toMatch(/\n0 passed, 1 failed\n$/)
  })
})

test('a test that quotes an import of a file that does not exist can be chosen by its name', () => {
  const read = projectReader(resolve(import.meta.dirname, '../../..'))
  expect(read('tests/unit/checks/house-rules.test.ts')).toContain(`import('../app/app.ts')`)
  expect(needsBuild('tests/unit/checks/house-rules.test.ts', read)).toBe(false)
})
