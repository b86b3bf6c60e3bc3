import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { packageClosure } from '../../../scripts/container/package-closure.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

test('packages that a server can load are those that it names, in whatever way, and what these need', async () => {
  const folder = await makeTempDir('closure')
  onTestFinished(() => folder.remove())
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder.path, path)), { recursive: true })
    await writeFile(join(folder.path, path), text)
  }
  for (const [name, dependencies] of [
    ['imported', { needed: '1' }],
    ['later', {}],
    ['@scope/required', {}],
    ['needed', {}],
    ['by-bundled', {}],
    ['unused', {}],
  ] as const) {
    await write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', dependencies }))
  }
  await write('server/chunk.js', 'export const later = () => import("later")')
  await write(
    'server/main.js',
    'import { createRequire } from "node:module"\nimport { join } from "node:path"\nimport "imported"\n' +
      'import { later } from "./chunk.js"\nvar require2 = createRequire(import.meta.url)\n' +
      'export const load = () => [later(), join, require2("@scope/required"), require2("node:fs"), require2("./own.cjs"),' +
      ' __require("by-bundled")]\n',
  )
  const closure = await packageClosure(join(folder.path, 'server/main.js'), folder.path)
  expect(closure.map(({ name }) => name)).toEqual(['@scope/required', 'by-bundled', 'imported', 'later', 'needed'])
})
