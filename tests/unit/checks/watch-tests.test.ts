import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readBuildInputs } from '../../../scripts/build/project/build-inputs.ts'
import { readTestArguments, type TestArguments } from '../../../scripts/checks/test-arguments.ts'
import { watchTests, type Watch } from '../../../scripts/checks/test-suites.ts'
import { coverageOptions } from '../../../scripts/checks/vitest-run.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')

function watch(...words: readonly string[]): Promise<Watch> {
  return watchTests(PROJECT, readTestArguments(['--watch', ...words]) as TestArguments, {})
}

test('chosen files of several folders are watched in one run of vitest, which needs no build for them', async () => {
  const { suites, vitest } = await watch('unit/checks/watch-tests', 'http/once', '-t', 'a name')
  expect(suites).toEqual([])
  expect(vitest).toEqual([
    'watch',
    '--project=unit',
    '--project=http',
    '-t',
    'a name',
    'tests/http/once.test.tsx',
    'tests/unit/checks/watch-tests.test.ts',
  ])
})

test('a file that needs the build gets one first, if it is stale', async () => {
  // No build has this value of a public variable.
  const [variable = ''] = readBuildInputs({ root: PROJECT, app: join(PROJECT, 'src/app') }, {}).publicNames
  const stale = { [variable]: 'of no build' }
  const args = readTestArguments(['--watch', 'browser/home']) as TestArguments
  const { suites, vitest } = await watchTests(PROJECT, args, stale)
  expect(vitest).toEqual(['watch', '--project=browser', 'tests/browser/home.test.ts'])
  expect(suites.map(({ title }) => title)).toEqual(['Build'])
})

test('without words nothing runs before a save, and slow files not at all', async () => {
  const { vitest } = await watch()
  expect(vitest).toEqual(['watch', '--project=unit', '--project=http', '--standalone', '--exclude', '**/*.slow.test.*'])
})

test('a word that matches nothing is refused, as without --watch', async () => {
  await expect(watch('no-such-file')).rejects.toThrow('No test file has "no-such-file" in its path.')
})

test('each project’s coverage has its own folder; only a whole run lists sources that no test has loaded', () => {
  expect(coverageOptions('unit', false)).toEqual(['--coverage.enabled', '--coverage.reportsDirectory=coverage/unit'])
  expect(coverageOptions('http', true)).toEqual([
    '--coverage.enabled',
    '--coverage.reportsDirectory=coverage/http',
    '--coverage.include=src/**/*.{ts,tsx}',
    '--coverage.include=scripts/**/*.ts',
  ])
})
