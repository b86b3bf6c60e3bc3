import { resolve } from 'node:path'
import { getFileInfo } from 'prettier'
import { expect, test } from 'vitest'

const PROJECT = resolve(import.meta.dirname, '../../..')

/** Whether the format of a path is checked, in the form of a line for a table. */
async function isChecked(path: string): Promise<boolean> {
  return !(await getFileInfo(resolve(PROJECT, path), { ignorePath: resolve(PROJECT, '.prettierignore') })).ignored
}

test.for([
  'src/server/routes/data/data-answer.ts',
  'src/app/home/page.module.css',
  'scripts/test.ts',
  'tests/unit/checks/own-files.test.ts',
  'deploy/kubernetes/deployment.yaml',
  'package.json',
  'vitest.config.ts',
  '.oxlintrc.json',
])('the format of %s is checked', async (path) => {
  expect(await isChecked(path)).toBe(true)
})

test.for([
  'product/app.ts',
  'scratch.mjs',
  'dist/server/main.js',
  'docs/sample.ts',
  'coverage/lcov.js',
  '.idea/a.json',
])('%s is no file of the project', async (path) => {
  expect(await isChecked(path)).toBe(false)
})
