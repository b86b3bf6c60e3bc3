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
