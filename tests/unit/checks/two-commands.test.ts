import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const PROJECT = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8')

test.for<[string, string]>([
  ['README.md', 'npm ci && npm start'],
  ['README.md', 'npm ci && npm test'],
  ['templates/application/README.md', 'npm ci && npm start'],
  ['templates/application/README.md', 'npm ci && npm test'],
  ['templates/minimal/README.md', 'npm ci && npm start'],
])('%s says how to begin: %s', ([file, command]) => {
  const blocks = read(file).match(/^```(?:bash)?$[^]*?^```$/gm) ?? []
  expect(blocks.join('\n').split('\n')).toContainEqual(expect.stringMatching(new RegExp(`^${command}(?: |$)`)))
})

test('continuous integration installs from the lock file, then runs all tests', () => {
  const lines = read('.ci/run').split('\n')
  const install = lines.findIndex((line) => line.startsWith('npm ci'))
  const all = lines.findIndex((line) => /\bnpm test -- --all\b/.test(line) && !line.startsWith('#'))
  expect(install).toBeGreaterThan(0)
  expect(all).toBeGreaterThan(install)
})
