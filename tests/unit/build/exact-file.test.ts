import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exactFiles } from '../../../scripts/build/resolve/exact-file.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const MANIFESTS: readonly unknown[] = [
  {},
  { sideEffects: false },
  { sideEffects: true },
  { sideEffects: ['./src/app/**', './tests/**'] },
  { sideEffects: ['src/lib/one.js'] },
  { sideEffects: ['src/**/one.js'] },
  { sideEffects: ['*.js'] },
  { sideEffects: ['src/{app,lib}/*.js'] },
  { browser: { './src/lib/one.js': './src/app/two.ts' } },
  { browser: 'main.js' },
]
const IMPORTS = [
  './src/lib/one.js',
  './src/app/two.ts',
  './src/app/.hidden/three.js',
  './src/app/link.js',
  './src/lib',
  './src/app/two',
  './src/own/four.js',
  './src/missing.js',
]

let folder: TempDir

beforeEach(async () => {
  folder = await makeTempDir('exact-file')
  for (const name of [
    'src/lib/one.js',
    'src/lib/index.js',
    'src/app/two.ts',
    'src/app/.hidden/three.js',
    'src/own/four.js',
  ])
    await write(name, '')
  await write('src/own/package.json', '{ "sideEffects": false }')
  await symlink(join(folder.path, 'src/lib/one.js'), join(folder.path, 'src/app/link.js'))
})

afterEach(() => folder[Symbol.asyncDispose]())

async function write(name: string, text: string): Promise<void> {
  const file = join(folder.path, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** What esbuild answers when a plugin asks it for each of these. */
async function esbuildAnswers(): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>()
  await build({
    stdin: { contents: '', resolveDir: folder.path },
    write: false,
    bundle: true,
    plugins: [
      {
        name: 'asking',
        setup(building) {
          building.onStart(async () => {
            for (const path of IMPORTS) {
              const { errors, ...answer } = await building.resolve(path, {
                kind: 'import-statement',
                resolveDir: folder.path,
              })
              answers.set(path, errors.length > 0 ? undefined : { ...answer, errors })
            }
          })
        },
      },
    ],
  })
  return answers
}

test.each(MANIFESTS)('an answer is that of esbuild, with the manifest %o', async (manifest) => {
  await write('package.json', JSON.stringify(manifest))
  const [exact, expected] = [exactFiles(), await esbuildAnswers()]
  const answers = IMPORTS.map((path) => [path, exact(resolve(folder.path, path))] as const)
  const answered = answers.filter(([, answer]) => answer !== undefined)
  expect(answered).toEqual(answered.map(([path]) => [path, expected.get(path)]))
})

test('it answers for the usual manifests, and leaves links, folders and other endings to esbuild', async () => {
  for (const manifest of MANIFESTS.slice(0, 5)) {
    await write('package.json', JSON.stringify(manifest))
    const exact = exactFiles()
    const answered = IMPORTS.filter((path) => exact(resolve(folder.path, path)) !== undefined)
    expect(answered).toEqual(expect.arrayContaining(['./src/lib/one.js', './src/app/two.ts', './src/own/four.js']))
    expect(answered).not.toEqual(expect.arrayContaining(['./src/app/link.js']))
    expect(answered).not.toEqual(expect.arrayContaining(['./src/lib']))
  }
})
