import { execFileSync } from 'node:child_process'
import { mkdir, open, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createKeptFiles } from '../../../src/server/assets/kept-files.ts'
import {
  isAssetName,
  keepBuild,
  keptFiles,
  MOST_BUILDS,
  MOST_BYTES,
  pruneKeptBuilds,
  readKeptBuilds,
} from '../../../src/server/assets/kept-builds.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const WEEK = { now: NOW, keepMs: 7 * DAY }

let folder = ''
let from = ''

beforeEach(async () => {
  const temp = await makeTempDir('kept')
  onTestFinished(() => temp.remove())
  folder = join(temp.path, 'kept')
  from = join(temp.path, 'public')
  await mkdir(from)
  await writeFile(join(from, 'page-1.js'), 'page')
})

const ids = async (time = WEEK): Promise<readonly string[]> =>
  (await readKeptBuilds(folder, time)).map(({ buildId }) => buildId)

describe('a build that is kept', () => {
  test('is there with its files, and for the time that was given', async () => {
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW - 6 * DAY })
    const [kept] = await readKeptBuilds(folder, WEEK)
    expect(kept).toMatchObject({ buildId: 'a', lastUsed: NOW - 6 * DAY })
    expect(await keptFiles({ folder: kept?.folder ?? '' })).toEqual(['page-1.js'])
    expect(await ids({ now: NOW + DAY, keepMs: 7 * DAY })).toEqual([])
    expect(await ids({ now: NOW, keepMs: 0 })).toEqual([])
  })

  test('begins its time anew whenever it is said to be used', async () => {
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW - 6 * DAY })
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW })
    expect(await readKeptBuilds(folder, WEEK)).toMatchObject([{ buildId: 'a', lastUsed: NOW }])
  })

  test('leaves out what need not be kept', async () => {
    await writeFile(join(from, 'shared-2.js'), 'shared')
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW, without: new Set(['shared-2.js']) })
    expect(await keptFiles({ folder: join(folder, 'a') })).toEqual(['page-1.js'])
  })

  // Windows has no mkfifo.
  test.skipIf(process.platform === 'win32')('is read without waiting for what a neighbour has put there', async () => {
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW })
    await mkdir(join(folder, 'b'))
    execFileSync('mkfifo', [join(folder, 'b', '.last-used'), join(folder, 'a', 'pipe.js')])
    await mkdir(join(folder, 'c'))
    await symlink('/dev/zero', join(folder, 'c', '.last-used'))
    expect(await ids()).toEqual(['a'])
    expect(await keptFiles({ folder: join(folder, 'a') })).toEqual(['page-1.js'])
    await pruneKeptBuilds(folder, WEEK)
    expect((await readdir(folder)).toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('is put there once by instances that start together', async () => {
    const together = Array.from({ length: 5 }, () => keepBuild(folder, { buildId: 'a', from, lastUsed: NOW }))
    await Promise.all(together)
    expect(await readdir(folder)).toEqual(['a'])
    expect(await readFile(join(folder, 'a/page-1.js'), 'utf8')).toBe('page')
  })

  test('is none without a time, which an interrupted copy does not have', async () => {
    await mkdir(join(folder, 'a'), { recursive: true })
    expect(await ids()).toEqual([])
    await writeFile(join(folder, 'a/.last-used'), 'yesterday')
    expect(await ids()).toEqual([])
  })
})

describe('of what is kept', () => {
  test('what is too old goes, and the own build stays', async () => {
    for (const [buildId, days] of [
      ['old', 8],
      ['own', 9],
      ['new', 1],
    ] as const) {
      await keepBuild(folder, { buildId, from, lastUsed: NOW - days * DAY })
    }
    await pruneKeptBuilds(folder, WEEK, 'own')
    expect((await readdir(folder)).toSorted()).toEqual(['new', 'own'])
  })

  test('those that were used longest ago go where there are too many', async () => {
    for (let at = 0; at < MOST_BUILDS + 2; at += 1) {
      await keepBuild(folder, { buildId: `b${at}`, from, lastUsed: NOW - at * HOUR })
    }
    await pruneKeptBuilds(folder, WEEK)
    expect(await ids()).toEqual(Array.from({ length: MOST_BUILDS }, (_, at) => `b${at}`))
  })

  test('those that were used longest ago go where their files are too much', async () => {
    const names = ['new', 'middle', 'old']
    for (const [at, buildId] of names.entries()) await keepBuild(folder, { buildId, from, lastUsed: NOW - at * HOUR })
    // A file with a hole takes no room on the disk.
    for (const buildId of names) {
      await using file = await open(join(folder, buildId, 'large.bin'), 'w')
      await file.truncate(MOST_BYTES / 2 - 1_000)
    }
    await pruneKeptBuilds(folder, WEEK)
    expect(await ids()).toEqual(['new', 'middle'])
  })

  test('what an interrupted process has left goes after an hour', async () => {
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW })
    for (const name of ['.keeping-x-1', '.keeping-y-2']) await mkdir(join(folder, name))
    const long = new Date(NOW - 2 * HOUR)
    await utimes(join(folder, '.keeping-x-1'), long, long)
    await utimes(join(folder, '.keeping-y-2'), new Date(NOW), new Date(NOW))
    await pruneKeptBuilds(folder, WEEK)
    expect((await readdir(folder)).toSorted()).toEqual(['.keeping-y-2', 'a'])
  })

  test('what is no build is not touched', async () => {
    for (const path of ['lost+found', 'avatars/ann', 'uploads']) await mkdir(join(folder, path), { recursive: true })
    await writeFile(join(folder, 'secret-keys'), 'key')
    await symlink('avatars', join(folder, 'link'))
    await keepBuild(folder, { buildId: 'old', from, lastUsed: NOW - 30 * DAY })
    await pruneKeptBuilds(folder, WEEK)
    const left = ['avatars', 'link', 'lost+found', 'secret-keys', 'uploads']
    expect((await readdir(folder)).toSorted()).toEqual(left)
    expect(await readdir(join(folder, 'avatars'))).toEqual(['ann'])
  })
})

test.for(['', '.last-used', '../a', 'a/b', 'a\\b', 'a\0', '%2e', `a${'b'.repeat(300)}`])('%j is no file', (name) => {
  expect(isAssetName(name)).toBe(false)
})

describe('a search for a file of another build', () => {
  test('finds what has come since, but looks no more often than once a second', async () => {
    const clock = { now: NOW }
    const files = createKeptFiles({ folders: [folder], keepMs: WEEK.keepMs, now: () => clock.now })
    expect(await files.find('page-1.js')).toBeUndefined()
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW })
    expect(await files.find('page-1.js')).toBeUndefined()
    clock.now += 1_000
    expect(await Promise.all([files.find('page-1.js'), files.find('page-1.js')])).toMatchObject([
      { root: join(folder, 'a') },
      { root: join(folder, 'a') },
    ])
  })

  test('never gives back the file that is missing', async () => {
    await keepBuild(folder, { buildId: 'a', from, lastUsed: NOW })
    const files = createKeptFiles({ folders: [folder], keepMs: WEEK.keepMs, now: () => NOW })
    const found = await files.find('page-1.js')
    expect(found).toBeDefined()
    expect(await files.find('page-1.js', found)).toBeUndefined()
  })

  test('goes without a folder that cannot be read', async () => {
    await symlink(folder, folder)
    const files = createKeptFiles({ folders: [folder], keepMs: WEEK.keepMs, now: () => NOW })
    expect(await files.find('page-1.js')).toBeUndefined()
  })
})
