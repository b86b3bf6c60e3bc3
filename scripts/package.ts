/**
 * `npm run package [-- --to <folder> --update-api --update-vendored]`: makes the published package. The compiled modules, their declarations
 * and the packages that are a part of it go to `lib`, and the archive to the folder, by default the project's
 * own. `docs/api.txt` lists all exports: if they have changed, `--update-api` accepts that. `docs/vendored.txt` lists
 * the vendored packages of the last release: `CHANGELOG.md` names each that differs, and a release brings the list up
 * to date by `--update-vendored`. The reference of the handbook, `docs/reference`, is made of the declarations, and accepted with
 * the exports.
 */
import { cp, mkdir, mkdtempDisposable, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseArgs } from 'node:util'
import { create } from 'tar'
import { apiReport } from './package/api-report.ts'
import { compileModules } from './package/compile-modules.ts'
import { emitTypes } from './package/emit-types.ts'
import { packageLinks } from './package/package-links.ts'
import { packedReadme } from './package/packed-readme.ts'
import { packageManifest, type ProjectManifest } from './package/package-manifest.ts'
import { createDeclarations } from './package/reference/declarations.ts'
import type { EntrySource } from './package/reference/entry.ts'
import { referencePages } from './package/reference/pages.ts'
import { vendorPackages } from './package/vendor-packages.ts'
import { unnamedChanges, VENDORED_BILL, vendoredBill, vendoredText } from './package/vendored-list.ts'
import { packedChapters } from './package/packed-chapters.ts'

const ROOT = resolve(import.meta.dirname, '..')
const LIB = join(ROOT, 'lib')

/** What the archive has beside `lib` and its package.json. */
const PARTS = ['bin', 'docs', 'templates', 'types.d.ts', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'] as const

/** The time that npm gives to every file, so that the same sources make the same archive. */
const PACKED_AT = new Date('1985-10-26T08:15:00Z')

const DOCS = join(ROOT, 'docs')
const VENDORED = join(ROOT, 'docs/vendored.txt')

const { values } = parseArgs({
  options: { to: { type: 'string' }, 'update-api': { type: 'boolean' }, 'update-vendored': { type: 'boolean' } },
})
const project = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as ProjectManifest

if (await makeLib()) console.log(await pack(resolve(values.to ?? ROOT)))
else process.exitCode = 1

/**
 * Makes `lib`. Removes the former one only when the new one is complete.
 * @returns whether the exports are those of `docs/api.txt`, and the changelog names the vendored packages that have changed.
 */
async function makeLib(): Promise<boolean> {
  const [modules, types] = await Promise.all([compileModules(ROOT), emitTypes(ROOT, entrySources(project))])
  const { files, packages } = await vendorPackages(ROOT, modules)
  const bill = [VENDORED_BILL, vendoredBill(project.version, packages)] as const
  const fresh = `${LIB}.making`
  await rm(fresh, { recursive: true, force: true })
  for (const [path, text] of [...modules.files, ...types, ...files, ...packageLinks(modules.files), bill]) {
    await mkdir(dirname(join(fresh, path)), { recursive: true })
    await writeFile(join(fresh, path), text)
  }
  await rm(LIB, { recursive: true, force: true })
  await rename(fresh, LIB)
  const areNamed = await namesVendored(packages)
  return (await keepsApi(types)) && areNamed
}

async function namesVendored(packages: readonly string[]): Promise<boolean> {
  if (values['update-vendored'] === true) await writeFile(VENDORED, vendoredText(packages))
  const [released, changelog] = await Promise.all([
    readFile(VENDORED, 'utf8'),
    readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'),
  ])
  const unnamed = unnamedChanges(released, packages, changelog)
  if (unnamed.length === 0) return true
  console.error(
    `Vendored packages have changed since the last release (docs/vendored.txt), and the first section of CHANGELOG.md does not name them: ${unnamed.join(', ')}`,
  )
  return false
}

async function keepsApi(types: ReadonlyMap<string, string>): Promise<boolean> {
  const declarations = createDeclarations(types)
  const entries = await publicEntries(project)
  const made = new Map([
    ['api.txt', apiReport(entries, declarations)],
    ...(await referencePages(entries, declarations)),
  ])
  if (values['update-api'] === true) {
    await rm(join(DOCS, 'reference'), { recursive: true, force: true })
    for (const [path, text] of made) {
      await mkdir(dirname(join(DOCS, path)), { recursive: true })
      await writeFile(join(DOCS, path), text)
    }
  }
  const pages = await readdir(join(DOCS, 'reference'), { recursive: true }).catch(() => [])
  const there = [
    'api.txt',
    'reference.md',
    ...pages.filter((path) => path.endsWith('.md')).map((path) => `reference/${path}`),
  ]
  const texts = await Promise.all(there.map(async (path) => [path, await readFile(join(DOCS, path), 'utf8')] as const))
  const former = new Map(texts)
  const changed = [...new Set([...made.keys(), ...former.keys()])].filter((path) => made.get(path) !== former.get(path))
  if (changed.length === 0) return true
  console.error(
    `The exports or their comments are not those of docs: ${changed.join(', ')}. If that is meant: npm run package -- --update-api`,
  )
  return false
}

/** The entries that applications import, with their declarations. */
async function publicEntries({ name, exports }: ProjectManifest): Promise<readonly EntrySource[]> {
  const entries = Object.entries(exports).map(async ([path, target]) => {
    const types = typeof target === 'string' ? undefined : target['types']
    const source = typeof target === 'string' ? undefined : target['millrace-source']
    if (types?.startsWith('./lib/') !== true || source === undefined || path.startsWith('./internal/')) return []
    const text = await readFile(join(ROOT, source), 'utf8')
    return [{ name: name + path.slice(1), types: types.slice('./lib/'.length), source: text }]
  })
  return (await Promise.all(entries)).flat()
}

/** The sources of all entries that have types. */
function entrySources({ exports }: ProjectManifest): readonly string[] {
  return Object.values(exports).flatMap((target) =>
    typeof target === 'string' || target['types']?.startsWith('./lib/') !== true
      ? []
      : (target['millrace-source'] ?? '').slice(2),
  )
}

/** Leaves out the templates' own check, and of `docs` all but the chapters and the reference for users of the package. */
function isPublished(path: string): boolean {
  if (dirname(path) === DOCS) {
    return path === join(DOCS, 'reference') || (path.endsWith('.md') && !path.endsWith('/changing.md'))
  }
  return path !== join(ROOT, 'templates/tsconfig.json')
}

/** Makes links between chapters lead to files. */
async function packChapters(folder: string): Promise<void> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.md'))
  const texts = names.map(
    async (name) => [name.split(sep).join('/'), await readFile(join(folder, name), 'utf8')] as const,
  )
  for (const [name, text] of packedChapters(new Map(await Promise.all(texts))))
    await writeFile(join(folder, name), text)
}

/**
 * Packs like `npm pack`, except that the files are in the order of their paths: a module is beside its source map, which repeats
 * it, within the 32 KiB that gzip sees. The archive is a sixth smaller for that.
 * @returns the path of the archive.
 */
async function pack(folder: string): Promise<string> {
  await using stage = await mkdtempDisposable(join(tmpdir(), 'millrace-package-'))
  await cp(LIB, join(stage.path, 'lib'), { recursive: true })
  for (const part of PARTS) await cp(join(ROOT, part), join(stage.path, part), { recursive: true, filter: isPublished })
  await packChapters(join(stage.path, 'docs'))
  await writeFile(join(stage.path, 'package.json'), `${JSON.stringify(packageManifest(project), undefined, 2)}\n`)
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${project.name}-${project.version}.tgz`)
  const entries = await readdir(stage.path, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(stage.path, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
  const readme = join(stage.path, 'README.md')
  const others = await readFile(join(ROOT, 'scripts/package/packed-readme.md'), 'utf8')
  await writeFile(readme, packedReadme(await readFile(readme, 'utf8'), others, new Set(paths)))
  await create(
    { file, cwd: stage.path, prefix: 'package', gzip: { level: 9 }, portable: true, mtime: PACKED_AT },
    paths,
  )
  return file
}
