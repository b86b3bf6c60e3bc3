import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tsconfigAliases } from '../../../scripts/build/project/tsconfig-aliases.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

/** What the aliases of a project with these files are; `<root>` is its folder. */
async function aliasesOf(files: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
  const folder = await makeTempDir('tsconfig')
  onTestFinished(() => folder.remove())
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder.path, name, '..'), { recursive: true })
    await writeFile(join(folder.path, name), text)
  }
  const aliases = await tsconfigAliases(folder.path)
  return Object.fromEntries(
    Object.entries(aliases).map(([name, place]) => [name, place.replace(folder.path, '<root>')]),
  )
}

const withPaths = (paths: object, more: object = {}): string => JSON.stringify({ compilerOptions: { paths, ...more } })

test.for([
  ['a folder', { 'tsconfig.json': withPaths({ '@/*': ['./src/*'] }) }, { '@': '<root>/src' }],
  ['a file', { 'tsconfig.json': withPaths({ '~db': ['./src/db.ts'] }) }, { '~db': '<root>/src/db.ts' }],
  [
    'a base',
    { 'tsconfig.json': withPaths({ '@app/*': ['app/*'] }, { baseUrl: './src' }) },
    { '@app': '<root>/src/app' },
  ],
  [
    'several places, of which the second is there',
    { 'tsconfig.json': withPaths({ '@/*': ['./made/*', './src/*'] }), 'src/a.ts': '' },
    { '@': '<root>/src' },
  ],
  [
    'a file that it extends, beside comments and commas',
    {
      'tsconfig.json': '// ours\n{ "extends": "./config/base", /* more */ "include": ["src",], }',
      'config/base.json': withPaths({ '@/*': ['../src/*'] }),
    },
    { '@': '<root>/src' },
  ],
  ['a mark in front', { 'tsconfig.json': `\uFEFF${withPaths({ '@/*': ['./src/*'] })}` }, { '@': '<root>/src' }],
  [
    'patterns that are no aliases',
    { 'tsconfig.json': withPaths({ '*': ['./x/*'], './a/*': ['./b/*'], 'a*b': ['./c'], 'd/*': './e', f: [1] }) },
    {},
  ],
  ['types alone', { 'tsconfig.json': withPaths({ a: ['./types/a.d.ts'], b: ['./node_modules/@types/b'] }) }, {}],
  ['no file', {}, {}],
  ['a file that is broken', { 'tsconfig.json': '{ "paths": ' }, {}],
  ['a circle', { 'tsconfig.json': '{ "extends": "./tsconfig.json" }' }, {}],
] as const)('%s', async ([, files, aliases]) => {
  expect(await aliasesOf(files)).toEqual(aliases)
})
