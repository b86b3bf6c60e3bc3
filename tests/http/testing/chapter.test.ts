import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { makeTempDir } from '../../support/temp-dir.ts'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')

test("the samples of the chapter pass in a new application, in Node's test runner", async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/testing.md'), 'utf8'))
  // The one with a browser is a part of the new application's own tests. The one with slots is about the pages of the chapter
  // Caching, which a new application does not have: `http/expect-kept` makes its calls.
  const samples = blocks
    .map(({ code }) => code)
    .filter((code) => /from 'node:test'/.test(code) && !/playwright|expectKept/.test(code))
  const folder = await makeTempDir('chapter')
  onTestFinished(() => folder.remove())
  await cp(join(PROJECT, 'templates/application/src'), join(folder.path, 'src'), { recursive: true })
  await mkdir(join(folder.path, 'node_modules'))
  await symlink(PROJECT, join(folder.path, 'node_modules/millrace'))
  for (const name of ['react', 'supertest', 'zod']) {
    await symlink(join(PROJECT, 'node_modules', name), join(folder.path, 'node_modules', name))
  }
  await mkdir(join(folder.path, 'tests'))
  for (const [at, code] of samples.entries()) await writeFile(join(folder.path, `tests/${at}.test.ts`), code)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const register = ['--conditions=millrace-source', '--import', 'millrace/testing/register']
  const { stdout } = await promisify(execFile)(process.execPath, [...register, '--test', 'tests/*.test.ts'], {
    cwd: folder.path,
    env,
  })
  expect(stdout).toMatch(new RegExp(`pass ${samples.length}$`, 'm'))
  expect(samples).toHaveLength(6)
})
