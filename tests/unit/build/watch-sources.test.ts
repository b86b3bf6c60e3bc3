import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { watch } from 'node:fs'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { watchSources, type WatchOptions } from '../../../scripts/dev/watch/watch-sources.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

async function setUp(options: WatchOptions) {
  const temp = await makeTempDir('watch')
  const folder = join(temp.path, 'src')
  await mkdir(join(folder, 'node_modules'), { recursive: true })
  await writeFile(join(folder, 'kept.ts'), 'kept')
  await writeFile(join(folder, 'gone.ts'), 'gone')
  const seen: string[] = []
  const watcher = watchSources([folder], (files) => void seen.push(...files), options)
  onTestFinished(async () => {
    watcher.close()
    await temp.remove()
  })
  const sees = async (...paths: readonly string[]): Promise<void> => {
    await expect.poll(() => paths.filter((path) => !seen.includes(path)), { timeout: 10_000 }).toEqual([])
  }
  return { temp, folder, watcher, seen, sees }
}

const REFUSED: typeof watch = () => {
  throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
}

test.for([
  ['polling', { pollMs: 50, watch: REFUSED }],
  ['a system that watches no more files', { watch: REFUSED }],
  [
    'a system that stops to watch',
    {
      watch: (() => {
        const watcher = Object.assign(new EventEmitter(), { close: () => undefined })
        queueMicrotask(() => watcher.emit('error', Object.assign(new Error('too many'), { code: 'EMFILE' })))
        return watcher
      }) as never,
    },
  ],
] as const)('%s finds files that are new, changed and gone, and no packages', async ([, options]) => {
  const { temp, folder, watcher, seen, sees } = await setUp(options)
  const outside = join(temp.path, 'settings.ts')
  await writeFile(outside, 'settings')
  watcher.include([outside])
  await writeFile(join(folder, 'first.ts'), 'a file tells that the poll has begun')
  const begun = async (): Promise<void> => writeFile(join(folder, 'first.ts'), String(seen.length + Math.random()))
  await expect.poll(async () => (await begun(), seen.length), { timeout: 10_000 }).toBeGreaterThan(0)

  await writeFile(join(folder, 'node_modules/index.js'), 'a package')
  await writeFile(join(folder, '.hidden.ts'), 'hidden')
  await writeFile(join(folder, 'new.ts'), 'new')
  await writeFile(join(folder, 'kept.ts'), 'changed')
  await rm(join(folder, 'gone.ts'))
  await writeFile(outside, 'settings, changed')
  await sees(...['new.ts', 'kept.ts', 'gone.ts'].map((name) => join(folder, name)), outside)
  expect(seen.filter((path) => path.includes('node_modules') || path.includes('hidden'))).toEqual([])
})

test('a used-up limit is told once, by its name', async () => {
  const printed: string[] = []
  const { watcher, temp } = await setUp({ watch: REFUSED, print: (text) => void printed.push(text) })
  watcher.include([join(temp.path, 'another/settings.ts')])
  expect(printed).toEqual([expect.stringMatching(/ENOSPC.*fs\.inotify\.max_user_watches.*--poll/)])
})

test('any other failure to watch is one', async () => {
  const refused: typeof watch = () => {
    throw Object.assign(new Error('not allowed'), { code: 'EACCES' })
  }
  await expect(setUp({ watch: refused })).rejects.toThrow('not allowed')
})
