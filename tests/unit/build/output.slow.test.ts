import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { decodeSegmentFiles, segmentFilesPath } from '../../../src/shared/protocol/segment-files.ts'
import { debugIdOf } from '../../../src/shared/reports/debug-id.ts'
import { buildApplication, type BuildReport } from '../../../scripts/build/build-application.ts'
import { REACT_NAMESPACE } from '../../../scripts/build/resolve/react-module.ts'
import { copyProject, type FixtureProject } from './fixture-project.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let project: FixtureProject
let report: BuildReport

beforeAll(async () => {
  project = await copyProject()
  report = await buildApplication(project.options, {})
})

afterAll(() => project.remove())

function fileName(path: string): string {
  return path.replace('/_m/assets/', '')
}

test('the manifest names, for each module of the table, files that are there', async () => {
  const manifest: typeof report.manifest = JSON.parse(await project.read('dist/manifest.json'))
  expect(manifest).toEqual(report.manifest)
  expect(Object.keys(manifest.segments)).toEqual(['/', '/(lab)/lab'])
  expect(Object.keys(manifest.segments['/(lab)/lab'] ?? {})).toEqual(['layout', 'page'])

  const segments = Object.values(manifest.segments).flatMap((kinds) => Object.values(kinds))
  const named = [manifest.entry ?? '', ...manifest.entryImports, ...segments.flatMap(({ scripts }) => scripts)]
  const styles = [...manifest.entryStyles, ...segments.flatMap((segment) => segment.styles)]
  const present = await project.list('dist/public')
  for (const path of [...named, ...styles]) {
    expect(path).toMatch(/^\/_m\/assets\/[\w.-]+-\w{8}\.(?:js|css)$/)
    expect(present).toContain(fileName(path))
  }
})

test('the manifest says what each script must be, byte for byte', async () => {
  const { integrity = {} } = report.manifest
  const scripts = (await project.list('dist/public')).filter((name) => name.endsWith('.js'))
  expect(Object.keys(integrity).toSorted()).toEqual(scripts.map((name) => `/_m/assets/${name}`).toSorted())
  for (const [path, stated] of Object.entries(integrity)) {
    const bytes = await readFile(join(project.options.out, 'public', fileName(path)))
    expect(stated).toBe(`sha256-${hash('sha256', bytes, 'base64')}`)
  }
})

test('a module lists its own chunk first, then what it imports beyond the entry', async () => {
  const { segments, entry, entryImports } = report.manifest
  const [chunk = '', ...imports] = segments['/']?.['page']?.scripts ?? []
  const code = await project.read(`dist/public/${fileName(chunk)}`)
  expect(chunk).toContain('home-page')
  const imported = [...code.matchAll(/from"\.\/([\w.-]+)"/g)].map(([, file]) => `/_m/assets/${file}`)
  expect(imports).toEqual(imported.filter((path) => path !== entry && !entryImports.includes(path)))
  expect(imports).not.toEqual([])
})

test('the client router finds all files of every module, in the order of the manifest', async () => {
  const { buildId, segments, entryStyles } = report.manifest
  const name = fileName(segmentFilesPath(buildId))
  const files = decodeSegmentFiles(JSON.parse(await project.read(`dist/public/${name}`)))
  const found = Object.entries(segments).map(([key, kinds]) => [
    key,
    Object.fromEntries(Object.keys(kinds).map((kind) => [kind, files.of(key, kind)])),
  ])
  expect(Object.fromEntries(found)).toEqual(segments)
  expect(files.of('/', 'loader')).toBeUndefined()
  const routeStyle = Object.values(segments).flatMap((kinds) => Object.values(kinds).flatMap(({ styles }) => styles))[0]
  expect(files.names(routeStyle ?? '')).toBe(true)
  expect(entryStyles.map(files.names)).toEqual([false])
  expect(await project.list('dist/public')).toContain(`${name}.br`)
})

test('React is one chunk of its own', async () => {
  const chunks = await Promise.all(
    report.manifest.entryImports.map((path) => project.read(`dist/maps/${fileName(path)}.map`)),
  )
  const sources = chunks.map((map): string[] => JSON.parse(map).sources)
  const withReact = sources.filter((files) => files.some((file) => file.includes('/react-dom/')))
  expect(withReact).toHaveLength(1)
  // What must run before React looks at the document is in its chunk.
  const first = /src\/(?:client\/free-document|shared\/protocol\/hydration-data)\.ts$/
  const others = withReact.flat().filter((file) => !/node_modules\/(?:react|react-dom|scheduler)\//.test(file))
  expect(others.filter((file) => first.test(file))).toHaveLength(2)
  expect(others.filter((file) => !first.test(file))).toEqual([`../../${REACT_NAMESPACE}`])
})

test('no script lies there that nothing loads', async () => {
  const scripts = (await project.list('dist/public')).filter((file) => file.endsWith('.js'))
  const texts = await Promise.all(scripts.map((file) => project.read(`dist/public/${file}`)))
  const loaded = [...texts, JSON.stringify(report.manifest)].join('\n')
  expect(scripts.filter((file) => !loaded.includes(file))).toEqual([])
})

test('files for browsers have their maps elsewhere, and say nothing of them', async () => {
  const files = await project.list('dist/public')
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([])
  for (const file of files.filter((name) => /\.(?:js|css)$/.test(name))) {
    expect(await project.read(`dist/public/${file}`)).not.toContain('sourceMappingURL')
    if (!file.startsWith('inert')) expect(await project.list('dist/maps')).toContain(`${file}.map`)
  }
})

test('each script has a debug id of its own, split ones included, and its map has the same', async () => {
  const idsOf = async (folder: string): Promise<readonly string[]> => {
    const maps = (await project.list(folder)).filter((file) => file.endsWith('.js.map'))
    return Promise.all(
      maps.map(async (file) => {
        const map: Record<string, unknown> = JSON.parse(await project.read(`${folder}/${file}`))
        expect(map['debugId']).toBe(map['debug_id'])
        const script = file.replace(/\.map$/, '')
        if (folder.endsWith('maps')) expect(map['debugId']).toBe(debugIdOf(script))
        else {
          const text = await project.read(`${folder}/${script}`)
          expect(text.trimEnd().split('\n').slice(-2)).toEqual([
            `//# debugId=${String(map['debugId'])}`,
            `//# sourceMappingURL=${file}`,
          ])
        }
        return String(map['debugId'])
      }),
    )
  }
  const ids = [...(await idsOf('dist/maps')), ...(await idsOf('dist/server'))]
  expect(new Set(ids).size).toBe(ids.length)
  const files = (await project.list('dist')).filter((file) => file.endsWith('.js'))
  const maps = new Set((await project.list('dist')).map((file) => file.replace(/^maps\//, 'public/')))
  const unnamed = files.filter((file) => !maps.has(`${file}.map`))
  expect(unnamed.filter((file) => !file.includes('inert'))).toEqual(['server/main.js'])
})

test('a change of the sources that leaves a script as it was gives its map another id', async () => {
  const page = await project.read('src/app/lab/page.tsx')
  await using changed = await copyProject({ 'src/app/lab/page.tsx': `// A remark.\n${page}` })
  const { manifest } = await buildApplication(changed.options, {})
  const [before = '', after = ''] = [report.manifest, manifest].map(({ segments }) =>
    fileName(segments['/(lab)/lab']?.['page']?.scripts[0] ?? ''),
  )
  expect(await changed.read(`dist/public/${after}`)).toBe(await project.read(`dist/public/${before}`))
  expect(debugIdOf(after)).not.toBe(debugIdOf(before))
})

test('each compressed form gives the file back, and is smaller', async () => {
  const inflate = { '.zst': zstdDecompressSync, '.br': brotliDecompressSync, '.gz': gunzipSync }
  const files = await project.list('dist/public')
  const largest = fileName(report.manifest.entryImports[0] ?? '')
  for (const [ending, decompress] of Object.entries(inflate)) {
    expect(files).toContain(largest + ending)
    for (const file of files.filter((name) => name.endsWith(ending))) {
      const compressed = await readFile(join(project.options.out, 'public', file))
      const original = await readFile(join(project.options.out, 'public', file.slice(0, -ending.length)))
      expect(Buffer.compare(decompress(compressed), original)).toBe(0)
      expect(compressed.length).toBeLessThan(original.length)
    }
  }
})

test('the same sources in another folder give the same build, and no output knows the folder', async () => {
  await using elsewhere = await copyProject({}, 'a-folder-with-another-name')
  const { manifest } = await buildApplication(elsewhere.options, {})
  expect(manifest).toEqual(report.manifest)
  const files = await elsewhere.list('dist')
  expect(files).toEqual(await project.list('dist'))
  const outputs = await Promise.all(
    files.map(
      async (file) => [file, await elsewhere.read(`dist/${file}`), await project.read(`dist/${file}`)] as const,
    ),
  )
  expect(outputs.flatMap(([file, here, there]) => (here === there ? [] : [file]))).toEqual([])
  expect(outputs.flatMap(([file, text]) => (text.includes(elsewhere.options.root) ? [file] : []))).toEqual([])
})

test.for([
  ['the browser', 'src/app/lab/page.tsx', 'export default () => "changed"'],
  ['the server alone', 'src/app/home.server.ts', 'export const loader = () => "changed"'],
])('a change of %s gives another build id', async ([, file = '', text = '']) => {
  await using changed = await copyProject({ [file]: text })
  expect((await buildApplication(changed.options, {})).manifest.buildId).not.toBe(report.manifest.buildId)
})

test('a build that is stopped leaves the former one, and nothing beside it', async () => {
  await using broken = await copyProject()
  await buildApplication(broken.options, {})
  const before = await broken.list('dist')
  await broken.change({ 'src/app/lab/page.tsx': 'export default <p>' })
  await expect(buildApplication(broken.options, {})).rejects.toThrow('page.tsx')
  expect(await broken.list('dist')).toEqual(before)
  const beside = new Set((await broken.list('.')).map((file) => file.split('/')[0]))
  expect([...beside].toSorted()).toEqual(['dist', 'node_modules', 'package.json', 'src'])
})

test('a build replaces the former one as a whole', async () => {
  await using changed = await copyProject()
  await buildApplication(changed.options, {})
  await changed.change({ 'src/app/lab/page.tsx': 'export default () => "changed"' })
  const { manifest } = await buildApplication(changed.options, {})
  const pages = (await changed.list('dist/public')).filter((file) => /^page-\w+\.js$/.test(file))
  expect(pages).toEqual([fileName(manifest.segments['/(lab)/lab']?.['page']?.scripts[0] ?? '')])
})

test('the server runs production React whatever the environment says, and maps its stacks', async () => {
  await using throwing = await copyProject({
    'src/app/lab/page.tsx': `export default function LabPage() {\n  throw new Error(typeof (<p />)._debugStack)\n}`,
  })
  await buildApplication(throwing.options, {})
  const server = spawn(process.execPath, [join(throwing.options.out, 'server/main.js')], {
    env: { ...process.env, NODE_ENV: 'development', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: server.stdout })
  try {
    const [listening] = await once(lines, 'line')
    const logged = once(lines, 'line')
    expect((await fetch(`${/http:\S+/.exec(listening)?.[0]}/(lab)/lab`)).status).toBe(500)
    const { err } = JSON.parse((await logged)[0])
    expect(err.message).toBe('undefined')
    expect(err.stack).toContain('src/app/lab/page.tsx:2:')
  } finally {
    server.kill('SIGKILL')
    await once(server, 'close')
  }
})
