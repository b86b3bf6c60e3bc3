import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBundleCache } from '../../../scripts/dev/compile/bundle-cache.ts'
import type { Customization } from '../../../scripts/build/build-options.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const PACK = 'node_modules/pack/index.js'
const ADDED = 'node_modules/pack/added.js'

let project: TempDir
let builds: number

beforeEach(async () => {
  project = await makeTempDir('bundle-cache')
  builds = 0
  await write('package.json', '{}')
  await write('package-lock.json', '{}')
  await write('src/runtime.js', `import 'pack'\nconsole.log('runtime one')\n`)
  await write(PACK, `console.log('pack one')\n`)
  await write('node_modules/pack/package.json', '{}')
})

afterEach(() => project[Symbol.asyncDispose]())

/** With the fixed time of modification that package managers give. */
async function write(name: string, text: string): Promise<void> {
  const file = join(project.path, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  await utimes(file, PACKED, PACKED)
}

const PACKED = new Date('1985-10-26')

/** A file that is as old as the start of a bundle may have changed since: files do not tell shorter times apart. */
async function nextMoment(): Promise<void> {
  const file = join(project.path, 'clock.txt')
  const now = async (): Promise<number> => {
    await writeFile(file, '')
    return (await stat(file)).ctimeMs
  }
  const first = await now()
  while ((await now()) === first);
}

/** The text of the bundle at another start of the development server. */
async function start(
  key: unknown = 'key',
  customization: Customization = {},
  during?: () => Promise<void>,
): Promise<string> {
  await nextMoment()
  const root = project.path
  const cache = createBundleCache(join(root, 'cache'), { root, customization })
  const { outputFiles } = await cache.through(key, async () => {
    builds += 1
    const bundle = await build({
      entryPoints: [join(root, 'src/runtime.js')],
      absWorkingDir: root,
      outdir: join(root, 'out'),
      bundle: true,
      write: false,
      metafile: true,
      logLevel: 'silent',
    })
    await during?.()
    return bundle
  })
  return outputFiles.map(({ contents }) => Buffer.from(contents).toString()).join('\n')
}

const entries = (): Promise<string[]> => readdir(join(project.path, 'cache'))

test('a bundle is made once for all starts', async () => {
  const first = await start()
  expect(first).toContain('pack one')
  expect(await start()).toBe(first)
  expect(builds).toBe(1)
})

test.each([
  ['a file of a package', PACK, `console.log('pack two')\n`, 'pack two'],
  ['a file of the runtime', 'src/runtime.js', `console.log('runtime two')\n`, 'runtime two'],
  ['the lock file', 'package-lock.json', '{ "changed": true }', 'pack one'],
  ['the manifest of a package', 'node_modules/pack/package.json', '{ "main": "added.js" }', 'added'],
])('it is made again after a change of %s', async (_what, name, text, expected) => {
  await write(ADDED, `console.log('added')\n`)
  await start()
  await write(name, text)
  expect(await start()).toContain(expected)
  expect(builds).toBe(2)
})

test('it is made again where a file is new beside the sources of the runtime', async () => {
  await start()
  await write('src/new.js', '')
  await start()
  expect(builds).toBe(2)
})

test('it is made again for other entries and options', async () => {
  await start(['one'])
  await start(['two'])
  await start(['two'], { define: { MODE: 'other' } })
  expect(builds).toBe(3)
})

test.each([
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ['empty', () => Buffer.alloc(0)],
  [
    'another text with the same length',
    (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('pack one', 'pack 666'), 'latin1'),
  ],
])('a damaged entry is made again: %s', async (_how, damage) => {
  const first = await start()
  const [name = ''] = await entries()
  const file = join(project.path, 'cache', name)
  await writeFile(file, damage(await readFile(file)))
  expect(await start()).toBe(first)
  expect(builds).toBe(2)
})

test('nothing is kept of sources that were written while the bundle was made', async () => {
  await start('key', {}, () => write(PACK, `console.log('pack late')\n`))
  expect(await entries()).toEqual([])
  expect(await start()).toContain('pack late')
  expect(builds).toBe(2)
})

const loading: Plugin = {
  name: 'loading',
  setup: (building) => building.onLoad({ filter: /pack/ }, () => undefined),
}
const resolving: Plugin = {
  name: 'resolving',
  setup: (building) => building.onResolve({ filter: /^unused$/ }, () => undefined),
}
const ofText: Plugin = {
  name: 'of-text',
  setup: (building) => building.onLoad({ filter: /\.txt$/ }, () => undefined),
}

test.each([
  ['loads a file of it', loading, 2],
  ['resolves imports', resolving, 2],
  ['loads other files', ofText, 1],
])('with a plugin of the project that %s', async (_what, plugin, expected) => {
  await start('key', { plugins: { server: [plugin] } })
  await start('key', { plugins: { server: [plugin] } })
  expect(builds).toBe(expected)
})

test('old entries make room', async () => {
  for (let at = 0; at < 12; at += 1) await start(at)
  expect(await entries()).toHaveLength(8)
  await start(11)
  expect(builds).toBe(12)
})
