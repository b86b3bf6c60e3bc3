import { spawnSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../../../src/server/stores/make-folder.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const CHILD_LIMIT_MS = 20_000 // only a child that hangs takes so long

test('a folder is made with all that is missing around it, for its owner only', async () => {
  await using folder = await makeTempDir()
  const path = join(folder.path, 'a/b/c')
  makeFolder(path)
  makeFolder(path)
  expect([path, join(folder.path, 'a')].map((made) => statSync(made).mode & 0o777)).toEqual([0o700, 0o700])
})

test('a file in its place, or on the way to it, is told', async () => {
  await using folder = await makeTempDir()
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  expect(() => makeFolder(file)).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect(() => makeFolder(join(file, 'a/b'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
})

// In a process of its own: what is tested for is that it comes back at all.
test.skipIf(!existsSync('/proc/self'))('a folder that takes none says so, and keeps nobody waiting', () => {
  const module = new URL('../../../src/server/stores/make-folder.ts', import.meta.url).href
  const script = `import { makeFolder } from '${module}'; try { makeFolder('/proc/none/here') } catch ({ code }) { console.log(code) }`
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    timeout: CHILD_LIMIT_MS,
    encoding: 'utf8',
  })
  expect([signal, stdout]).toEqual([null, 'ENOENT\n'])
})
