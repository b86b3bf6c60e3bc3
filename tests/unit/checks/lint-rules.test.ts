import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeTempDir } from '../../support/temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')

/** What the project's linter says of one file. */
async function lint(path: string, text: string): Promise<string> {
  await using folder = await makeTempDir('lint')
  await cp(join(PROJECT, '.oxlintrc.json'), join(folder.path, '.oxlintrc.json'))
  await mkdir(dirname(join(folder.path, path)), { recursive: true })
  await writeFile(join(folder.path, path), text)
  const oxlint = join(PROJECT, 'node_modules/.bin/oxlint')
  return await promisify(execFile)(oxlint, [], { cwd: folder.path }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
}

function lines(count: number): string {
  const body = Array.from({ length: count - 2 }, (_, index) => `  list.push(${index})\n`)
  return `export function fill(list: number[]): void {\n${body.join('')}}\n`
}

function params(count: number): string {
  const names = Array.from({ length: count }, (_, index) => `one${index}`)
  return `export function sum(${names.map((name) => `${name}: number`).join(', ')}): number {\n  return ${names.join(' + ')}\n}\n`
}

const EXIT = 'export function end(): never {\n  process.exit(1)\n}\n'

test.for([
  ['src/server/config/config.ts', EXIT, 'Only src/server/main.ts and scripts end the process'],
  ['src/shared/href.ts', `export { join } from 'node:path'\n`, 'no-nodejs-modules'],
  ['src/shared/href.ts', `import { join } from 'node:path'\nexport const path = join('a')\n`, 'no-nodejs-modules'],
  ['src/client/clock.ts', `import fs from 'fs'\nexport const exists = fs.existsSync('a')\n`, 'no-nodejs-modules'],
  ['src/client/clock.ts', `export const path = () => import('node:path')\n`, 'no-nodejs-modules'],
] as const)('%s may not say %s', async ([path, text, message]) => {
  expect(await lint(path, text)).toContain(message)
})

test.for([
  ['src/server/main.ts', EXIT],
  ['scripts/package.ts', EXIT],
  ['src/server/a.ts', `export { join } from 'node:path'\n`],
] as const)('%s may say %s', async ([path, text]) => {
  expect(await lint(path, text)).toBe('')
})

test.for(['src/client/entry.tsx', 'src/server/app.ts', 'scripts/build.ts'])(
  '%s holds no function of more than a hundred lines or four parameters',
  async (path) => {
    expect(await lint(path, lines(101))).toContain('max-lines-per-function')
    expect(await lint(path, lines(100))).toBe('')
    expect(await lint(path, params(5))).toContain('max-params')
    expect(await lint(path, params(4))).toBe('')
  },
)

test('functions of tests may be longer', async () => {
  expect(await lint('tests/unit/app/long.ts', lines(101))).toBe('')
})
