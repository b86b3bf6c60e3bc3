import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { analysisText } from '../../../scripts/build/output/analysis-text.ts'
import type { AnalyzedChunk, BundleAnalysis } from '../../../scripts/build/output/analyze-bundle.ts'
import { buildApplication, type BuildReport } from '../../../scripts/build/build-application.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PACKAGES = 'src/app/node_modules'
const manifest = (name: string, version: string): string =>
  JSON.stringify({ name, version, type: 'module', sideEffects: false })
const page = (imports: string, shown: string): string =>
  `${imports}\nexport default function Page() {\n  return <p>{${shown}}</p>\n}\n`

let project: FixtureProject
let report: BuildReport
let analysis: BundleAnalysis

/** The start page takes a label from a file that also exports a chart, and the lab's page takes the chart. */
beforeAll(async () => {
  project = await copyProject({
    'src/app/shapes/package.json': '{ "sideEffects": false }',
    [`${PACKAGES}/plot/package.json`]: manifest('plot', '2.0.0'),
    [`${PACKAGES}/plot/index.js`]: `export { axis } from './axis.js'\nexport const plot = (a) => ['plot two', a]\n`,
    [`${PACKAGES}/plot/axis.js`]: `export const axis = () => 'the axis of plot two'\n`,
    [`${PACKAGES}/grid/package.json`]: manifest('grid', '1.2.3'),
    [`${PACKAGES}/grid/index.js`]: `import { plot } from 'plot'\nexport const grid = (a) => ['grid', plot(a)]\n`,
    [`${PACKAGES}/grid/node_modules/plot/package.json`]: manifest('plot', '1.0.0'),
    [`${PACKAGES}/grid/node_modules/plot/index.js`]: `export const plot = (a) => ['plot one', a]\n`,
    'src/app/shapes/index.ts': `export * from './chart.ts'\nexport * from './label.ts'\n`,
    'src/app/shapes/chart.ts': `import { grid } from 'grid'
import { axis, plot } from 'plot'
export const chart = (a: unknown): string => [grid(a), plot(a), axis()].join()
`,
    'src/app/shapes/label.ts': `export const label = (a: unknown): string => 'label ' + String(a)\n`,
    'src/app/shapes/late.ts': `export const late = (a: unknown): string => 'late ' + String(a)\n`,
    'src/app/app.ts': `import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

const headers = [{ key: 'X-A', value: 'b' }]
const list = [
  { source: '/short/:id([a-z]{1,1100})', headers },
  { source: '/plain/:id', has: [{ type: 'cookie' as const, key: 'a', value: '(?:ab?c?){1,700}' }], headers },
  { source: '/wide/:id([a-z]{1,20})', headers },
]
export default defineApp({ routes, document: Document, rules: { headers: list } })
`,
    'src/app/home-page.tsx': page(`import { label } from './shapes/index.ts'`, 'label(1)'),
    'src/app/lab/page.tsx': page(
      `import { chart } from '../shapes/index.ts'\nconst load = () => import('../shapes/late.ts')`,
      'chart(load)',
    ),
  })
  report = await buildApplication(project.options, {})
  analysis = await report.analyze()
})

afterAll(() => project.remove())

test('rules that refuse texts of ordinary length are named with their sources', () => {
  const named = [...report.warnings.matchAll(/(headers\[\d\]) \(source "([^"]+)"\).* longer text than (\d+) /g)]
  expect(named.map(([, rule, source, longest]) => [rule, source, Number(longest)])).toEqual([
    ['headers[0]', '/short/:id([a-z]{1,1100})', 271],
    ['headers[1]', '/plain/:id', 142],
  ])
})

function chunkWith(name: string): AnalyzedChunk {
  const found = analysis.chunks.find(({ parts }) => parts.some((part) => part.name === name))
  if (found === undefined) throw new Error(`No chunk has ${name}.`)
  return found
}

const partOf = (chunk: AnalyzedChunk, name: string) => chunk.parts.find((part) => part.name === name)

test('all scripts are listed, and what is in each adds up to the size of its file', async () => {
  const folder = join(project.options.out, 'public')
  const scripts = (await project.list('dist/public')).filter((name) => name.endsWith('.js'))
  expect(analysis.chunks.map(({ name }) => name).toSorted()).toEqual(scripts)
  for (const { name, raw, brotli, gzip, parts, bundlerBytes } of analysis.chunks) {
    expect(raw).toBe((await stat(join(folder, name))).size)
    expect(parts.reduce((sum, { bytes }) => sum + bytes, bundlerBytes)).toBe(raw)
    expect(bundlerBytes).toBeGreaterThanOrEqual(0)
    const compressed = scripts.includes(`${name}.br`)
    if (compressed) expect(brotli).toBe((await stat(join(folder, `${name}.br`))).size)
    expect(Math.max(gzip, brotli)).toBeLessThanOrEqual(raw)
  }
})

test('the first load of a route is the sum of the files that its document names', async () => {
  const { entry = '', entryImports, entryStyles, segments } = report.manifest
  const [layout, own] = [segments['/(lab)/lab']?.['layout'], segments['/(lab)/lab']?.['page']]
  const sum = async (paths: readonly string[]): Promise<number> => {
    const names = new Set(paths.map((path) => path.replace('/_m/assets/', 'public/')))
    const sizes = await Promise.all([...names].map((name) => stat(join(project.options.out, name))))
    return sizes.reduce((total, { size }) => total + size, 0)
  }
  const lab = analysis.routes.find(({ route }) => route === '/(lab)/lab')
  expect(lab?.scripts.raw).toBe(
    await sum([entry, ...entryImports, ...(layout?.scripts ?? []), ...(own?.scripts ?? [])]),
  )
  expect(lab?.styles.raw).toBe(await sum([...entryStyles, ...(layout?.styles ?? []), ...(own?.styles ?? [])]))
  expect(analysis.everyPage.raw).toBe(await sum([entry, ...entryImports]))
  expect(analysis.routes.map(({ route }) => route).toSorted()).toEqual(['/', '/(lab)/lab'])
})

test('a package has the chain of imports from the page that uses it, not from one that only passes it by', () => {
  const chunk = chunkWith('grid')
  expect(partOf(chunk, 'grid')).toMatchObject({
    version: '1.2.3',
    modules: 1,
    chain: ['lab/page.tsx', 'shapes/index.ts', 'shapes/chart.ts', 'grid'],
  })
  expect(chunk.loads).toMatchObject({ routes: ['/(lab)/lab'], laterRoutes: [], fallbacks: [] })
  expect(chunkWith('shapes/label.ts').loads.routes).toEqual(['/'])
})

test('a script of an import() is loaded later, by the route that has it; React comes with every page', () => {
  const late = chunkWith('shapes/late.ts')
  expect(late.loads).toMatchObject({ routes: [], laterRoutes: ['/(lab)/lab'], importedBy: ['lab/page.tsx'] })
  expect(partOf(late, 'shapes/late.ts')?.chain).toEqual(['lab/page.tsx', 'shapes/late.ts'])
  expect(chunkWith('react and react-dom').loads.everyPage).toBe('first')
})

test('a package in two versions is named, with the folder, the bytes and the chain of each', () => {
  expect(analysis.duplicates.map(({ name }) => name)).toEqual(['plot'])
  const copies = analysis.duplicates[0]?.copies.toSorted((a, b) => (a.version ?? '').localeCompare(b.version ?? ''))
  expect(copies).toMatchObject([
    { version: '1.0.0', folder: `${PACKAGES}/grid/node_modules/plot`, chunks: [chunkWith('grid').name] },
    { version: '2.0.0', folder: `${PACKAGES}/plot`, chunks: [chunkWith('grid').name] },
  ])
  expect(copies?.map(({ chain }) => chain)).toEqual([
    ['lab/page.tsx', 'shapes/index.ts', 'shapes/chart.ts', 'grid', 'plot'],
    ['lab/page.tsx', 'shapes/index.ts', 'shapes/chart.ts', 'plot'],
  ])
  for (const { bytes } of copies ?? []) expect(bytes).toBeGreaterThan(10)
})

test('it names modules, and has nothing of their text', () => {
  const text = JSON.stringify(analysis) + analysisText(analysis)
  expect(text).not.toMatch(/plot one|label \+|late \+|return/)
  expect(text).not.toContain(project.options.root)
})

describe('the text', () => {
  test('says for each script what is in it, when it is loaded, and why', () => {
    const text = analysisText(analysis)
    expect(text).toContain('loaded  with /(lab)/lab, first or by navigation\n')
    expect(text).toContain('loaded  later, on /(lab)/lab, by import() in lab/page.tsx\n')
    expect(text).toMatch(
      /^ {10}grid 1\.2\.3 +0\.\d\d kB\n {12}by lab\/page\.tsx → shapes\/index\.ts → shapes\/chart\.ts → grid$/m,
    )
    expect(text).toMatch(/^ {2}plot {4}1\.0\.0 {2}src\/app\/node_modules\/grid\/node_modules\/plot +0\.\d\d kB$/m)
  })

  test('has at most 80 columns, no colours, and the largest twenty of a thousand routes and scripts', () => {
    const size = (raw: number) => ({ raw, gzip: raw, brotli: raw })
    const chunk = analysis.chunks[0]
    if (chunk === undefined) throw new Error('There is no chunk.')
    const all = Array.from({ length: 1_000 }, (_, at) => `/a/${'very-'.repeat(at % 30)}long/route/${at}`)
    const parts = all.map((name, at) => ({ name, bytes: at, modules: 1, chain: all.slice(0, 3) }))
    const text = analysisText({
      ...analysis,
      routes: all.map((route, at) => ({ route, scripts: size(10 ** (at % 8)), styles: size(at), chunks: [] })),
      chunks: all.map((name, at) => ({
        ...chunk,
        ...size(10 ** (at % 8)),
        name,
        loads: { ...chunk.loads, routes: all },
        parts,
      })),
    })
    const lines = text.split('\n')
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
    expect(lines.filter((line) => line.startsWith('  loaded'))).toHaveLength(20)
    expect(text).toContain('\n  and 980 more routes; --analyze json lists all\n')
    expect(text).toContain('\n  and 980 more scripts; --analyze json lists all\n')
    expect(lines.length).toBeLessThan(1_000)
    // oxlint-disable-next-line no-control-regex -- the start of a colour
    expect(text).not.toMatch(/\u001b/)
  })

  test('of an application without scripts says so', () => {
    expect(analysisText({ ...analysis, routes: [], chunks: [], duplicates: [] })).toBe(
      'There are no scripts for browsers to analyze.',
    )
  })
})
