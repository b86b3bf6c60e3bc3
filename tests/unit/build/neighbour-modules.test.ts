import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { neighbourModules } from '../../../scripts/build/resolve/neighbour-modules.ts'
import { writeFiles } from '../../support/linked-project.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

let temp: TempDir

beforeAll(async () => {
  temp = await makeTempDir('neighbours')
  await writeFiles(temp.path, {
    'esm/package.json': '{ "type": "module" }',
    'esm/index.js': '',
    'esm/deep/part.js': '',
    'esm/deep/other.js': '',
    'esm/folder.js/index.js': '',
    'esm/old/package.json': '{ "type": "commonjs" }',
    'esm/old/part.js': '',
    'plain/package.json': '{}',
    'plain/index.mjs': '',
    'plain/part.mjs': '',
    'plain/part.js': '',
  })
  await symlink(join(temp.path, 'plain/part.js'), join(temp.path, 'esm/linked.js'))
})

afterAll(() => temp.remove())

const urlOf = (path: string): string => pathToFileURL(join(temp.path, path)).href

test.for([
  ['beside it', 'esm/deep/part.js', './other.js', 'esm/deep/other.js'],
  ['below it', 'esm/index.js', './deep/part.js', 'esm/deep/part.js'],
  ['above it', 'esm/deep/part.js', '../index.js', 'esm/index.js'],
  ['that its ending makes a module', 'plain/index.mjs', './part.mjs', 'plain/part.mjs'],
] as const)('a module that a package names exactly, %s, is found without Node', ([, from, specifier, found]) => {
  expect(neighbourModules()(specifier, urlOf(from))).toEqual({
    url: urlOf(found),
    format: 'module',
    shortCircuit: true,
  })
})

test.for([
  ['a package', 'esm/index.js', 'react'],
  ['a file without its ending', 'esm/index.js', './deep/part'],
  ['a file that is not there', 'esm/index.js', './gone.js'],
  ['a folder', 'esm/index.js', './folder.js'],
  ['a link', 'esm/index.js', './linked.js'],
  ['a file with a query', 'esm/index.js', './deep/part.js?raw'],
  ['a folder with a manifest of its own', 'esm/index.js', './old/part.js'],
  ['another package', 'esm/index.js', '../plain/part.mjs'],
  ['what may be CommonJS', 'plain/index.mjs', './part.js'],
] as const)('%s is left to Node', ([, from, specifier]) => {
  expect(neighbourModules()(specifier, urlOf(from))).toBeUndefined()
})
