import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeFault } from '../../../scripts/build/esbuild-messages.ts'
import { addPackages, bundleOwnModules, type BrowserGraph } from '../../../scripts/dev/compile/browser-graph.ts'
import type { BundleCache } from '../../../scripts/dev/compile/bundle-cache.ts'
import { openDevContexts, type DevContexts } from '../../../scripts/dev/compile/dev-contexts.ts'
import { makeLinkedProject, writeFiles } from '../../support/linked-project.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { packFiles } from './fake-packages.ts'

const INNER = packFiles(
  'inner',
  { main: 'index.js' },
  { 'index.js': `require('./inner.css'); exports.inner = 'inner'`, 'inner.css': '.inner { color: teal }' },
)
const OUTER = packFiles(
  'outer',
  { type: 'module', main: 'index.js', version: '1.0.0' },
  { 'index.js': `export { inner as outer } from 'inner'` },
)
const PAGE = `import { outer } from 'outer'
export default function Page() {
  return <main>{outer}</main>
}
`

let temp: TempDir
let contexts: DevContexts
/** How often packages were bundled, and what is kept of them. */
let kept: { readonly vendors: object; readonly bundles: BundleCache; onWork(): void; count: number }

beforeEach(async () => {
  temp = await makeTempDir('browser-graph')
  const root = await makeLinkedProject(join(temp.path, 'web'), {
    ...INNER,
    ...OUTER,
    'src/app/counter-page.tsx': PAGE,
  })
  contexts = await openDevContexts({ root, app: join(root, 'src/app'), mode: 'development', defines: {} })
  kept = { vendors: {}, bundles: { through: (_key, make) => make() }, onWork: () => (kept.count += 1), count: 0 }
})

afterEach(async () => {
  await contexts.dispose()
  await temp.remove()
})

async function build(): Promise<{ readonly own: Omit<BrowserGraph, 'vendors'>; readonly graph: BrowserGraph }> {
  const own = await bundleOwnModules(contexts)
  return { own, graph: await addPackages(contexts, own, kept) }
}

test('a package of pages is bundled once, and the graph leads to all that it imports', async () => {
  const { own, graph } = await build()
  const files = ['outer', 'inner'].map((name) => `node_modules/${name}/index.js`)
  for (const file of files) {
    const bundles = [own.metafile.inputs, graph.vendors.inputs].filter((inputs) => Object.hasOwn(inputs, file))
    expect(bundles).toHaveLength(1)
  }
  const importsOf = (key: string) => graph.metafile.inputs[key]?.imports.map(({ path }) => path)
  expect(importsOf('src/app/counter-page.tsx')).toContain(files[0])
  expect(importsOf(files[0] ?? '')).toEqual([files[1]])
  expect(importsOf(files[1] ?? '')).toEqual(['css-file:node_modules/inner/inner.css'])
})

test('packages are bundled again where others are imported or installed, and after no other save', async () => {
  const first = await build()
  expect((await build()).graph.vendors).toBe(first.graph.vendors)
  expect(kept.count).toBe(1)
  await writeFiles(contexts.context.root, { 'node_modules/.package-lock.json': '{ "packages": {} }' })
  expect((await build()).graph.vendors).not.toBe(first.graph.vendors)
  expect(kept.count).toBe(2)
  await writeFiles(contexts.context.root, { 'src/app/counter-page.tsx': PAGE.replace(`'outer'`, `'inner'`) })
  await build()
  expect(kept.count).toBe(3)
})

test('a name that a package does not export is a fault of its import, also where packages are kept', async () => {
  const fault = { errors: [expect.objectContaining({ location: expect.objectContaining({ line: 1 }) })] }
  const page = (text: string) => writeFiles(contexts.context.root, { 'src/app/counter-page.tsx': text })
  await page(PAGE.replace('{ outer }', '{ outre as outer }'))
  await expect(build()).rejects.toMatchObject(fault)
  await page(PAGE)
  await build()
  await page(PAGE.replace('{ outer }', 'outer'))
  const thrown = await build().catch((error: unknown) => error)
  expect(thrown).toMatchObject(fault)
  expect(await describeFault(thrown)).toContain(
    'No matching export in "node_modules/outer/index.js" for import "default"',
  )
  expect(kept.count).toBe(1)
})

test('names that show only when a package runs are not missed', async () => {
  await writeFiles(contexts.context.root, {
    ...packFiles('outer', { type: 'module', main: 'index.js' }, { 'index.js': `export * from 'inner'` }),
    'src/app/counter-page.tsx': PAGE.replace('{ outer }', '{ inner as outer }'),
  })
  await expect(build()).resolves.toMatchObject({ graph: { warnings: [] } })
})

test.for([
  ['a builtin of Node', `export { readFile as inner } from 'node:fs'`, 'node:fs is a Node builtin'],
  ['a builtin without its prefix', `import fs from 'fs'\nexport const inner = fs`, 'a Node builtin'],
  ['the server of the runtime', `export { defineApp as inner } from 'millrace/server'`, 'a module of millrace/server'],
  ['its own server module', `export { inner } from './inner.server.js'`, 'a *.server.* module'],
] as const)('a package that brings %s is told with all imports that lead to it', async ([, text, rule]) => {
  await writeFiles(
    contexts.context.root,
    packFiles(
      'inner',
      { type: 'module', main: 'index.js' },
      { 'index.js': text, 'inner.server.js': 'export const inner = 1' },
    ),
  )
  await expect(build()).rejects.toThrow(rule)
  await expect(build()).rejects.toThrow(
    /src\/app\/counter-page\.tsx\n {2}→ node_modules\/outer\/index\.js\n {2}→ node_modules\/inner\/index\.js\n {2}→ /,
  )
})
