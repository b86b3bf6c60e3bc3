import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { context, type BuildContext, type Plugin } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pluginsOf } from '../../../scripts/build/resolve/customization.ts'
import { isLookUp, createLookUpCache, lookUp, type LookUpCache } from '../../../scripts/build/resolve/look-up.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

let folder: TempDir
let cache: LookUpCache
let asked: string[]
const building: BuildContext[] = []

beforeEach(async () => {
  folder = await makeTempDir('look-up')
  cache = createLookUpCache()
  asked = []
  await write('node_modules/pack/index.js', `export const pack = 'package'\n`)
})

afterEach(async () => {
  for (const open of building.splice(0)) await open.dispose()
  await folder[Symbol.asyncDispose]()
})

async function write(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder.path, name)), { recursive: true })
  await writeFile(join(folder.path, name), text)
}

/** Looks every import up, as the plugins of the build do, and notes what esbuild itself was asked for. */
const looking: Plugin = {
  name: 'looking',
  setup(build) {
    build.onResolve({ filter: /.*/ }, async (args) => {
      if (args.kind === 'entry-point') return undefined
      if (isLookUp(args)) return void asked.push(args.path)
      const found = await lookUp(build, args)
      return found && { path: found.path, namespace: found.namespace }
    })
  },
}

/** A build of `main.js`: its text after each call. */
async function builder(plugins: readonly Plugin[] = []): Promise<() => Promise<string>> {
  const open = await context({
    entryPoints: [join(folder.path, 'main.js')],
    absWorkingDir: folder.path,
    bundle: true,
    write: false,
    logLevel: 'silent',
    plugins: [cache.plugin, ...plugins, looking],
  })
  building.push(open)
  return async () => {
    asked.length = 0
    return (await open.rebuild()).outputFiles?.[0]?.text ?? ''
  }
}

test('an import is looked up once, for all its importers in a package and over rebuilds', async () => {
  await write('main.js', `import { pack } from 'pack'\nimport './deep/one'\nconsole.log(pack)\n`)
  await write('deep/one.js', `import { pack } from 'pack'\nimport '../deep/two'\nconsole.log(pack)\n`)
  await write('deep/two.js', `console.log('two')\n`)
  const build = await builder()
  expect(await build()).toContain('two')
  expect(asked.toSorted()).toEqual(['../deep/two', './deep/one', 'pack'])
  expect(await build()).toContain('two')
  expect(asked).toEqual([])
})

test('a new file that hides another one is found, also the index of a folder', async () => {
  await write('main.js', `import './value'\nimport './folder'\nimport './other.js'\n`)
  await write('value.js', `console.log('hidden value')\n`)
  await write('folder/index.js', `console.log('hidden folder')\n`)
  await write('other.js', `console.log('other')\n`)
  const build = await builder()
  expect(await build()).toContain('hidden value')
  await write('value.ts', `console.log('new value')\n`)
  await write('folder/index.ts', `console.log('new folder')\n`)
  cache.forget([join(folder.path, 'value.ts'), join(folder.path, 'folder/index.ts')])
  const text = await build()
  expect(text).toContain('new value')
  expect(text).toContain('new folder')
  expect(asked.toSorted()).toEqual(['./folder', './value'])
})

test('a file that is gone is not found any more, and nothing that was missing is remembered', async () => {
  await write('main.js', `import './value'\n`)
  const build = await builder()
  await expect(build()).rejects.toThrow('./value')
  await write('value.js', `console.log('there')\n`)
  expect(await build()).toContain('there')
  await rm(join(folder.path, 'value.js'))
  await expect(build()).rejects.toThrow('./value')
})

test('a package is looked up again after its manifest has changed', async () => {
  await write('main.js', `import 'pack'\n`)
  await write('node_modules/pack/other.js', `console.log('other file')\n`)
  const build = await builder()
  await build()
  await write('node_modules/pack/package.json', JSON.stringify({ main: 'other.js' }))
  cache.forget([join(folder.path, 'node_modules/pack/package.json')])
  expect(await build()).toContain('other file')
})

test('a plugin of the project that resolves a name is asked each time', async () => {
  await write('main.js', `import 'pack'\n`)
  await write('one.js', `console.log('file one')\n`)
  await write('two.js', `console.log('file two')\n`)
  const state = { target: 'one.js' }
  const choosing: Plugin = {
    name: 'choosing',
    setup(build) {
      build.onResolve({ filter: /^pack$/ }, () => ({ path: join(folder.path, state.target) }))
    },
  }
  const own = pluginsOf({ plugins: { browser: [choosing] } }, 'browser')
  // After the plugin that looks up, so that only its question gets the answer.
  const build = await builder([looking, ...own])
  expect(await build()).toContain('file one')
  state.target = 'two.js'
  expect(await build()).toContain('file two')
})
