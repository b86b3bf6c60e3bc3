/**
 * `npm run package [-- --to <folder>]`: makes the published package. The compiled modules, their declarations and the
 * packages that are a part of it go to `lib`, and `npm pack` puts the archive into the folder, the project's own unless told.
 */
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtempDisposable, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compileModules } from './package/compile-modules.ts'
import { emitTypes } from './package/emit-types.ts'
import { packageLinks } from './package/package-links.ts'
import { packageManifest, type ProjectManifest } from './package/package-manifest.ts'
import { vendorPackages } from './package/vendor-packages.ts'

const ROOT = resolve(import.meta.dirname, '..')
const LIB = join(ROOT, 'lib')

/** What the archive has beside `lib` and its package.json. */
const PARTS = ['bin', 'templates', 'types.d.ts', 'README.md', 'CHANGELOG.md', 'LICENSE'] as const

const { values } = parseArgs({ options: { to: { type: 'string' } } })
const project = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as ProjectManifest

await makeLib()
console.log(await pack(resolve(values.to ?? ROOT)))

/** Makes `lib`, and only when all of it is there takes the former one away. */
async function makeLib(): Promise<void> {
  const [modules, types] = await Promise.all([compileModules(ROOT), emitTypes(ROOT, entrySources(project))])
  const { files } = await vendorPackages(ROOT, modules)
  const fresh = `${LIB}.making`
  await rm(fresh, { recursive: true, force: true })
  for (const [path, text] of [...modules.files, ...types, ...files, ...packageLinks(modules.files)]) {
    await mkdir(dirname(join(fresh, path)), { recursive: true })
    await writeFile(join(fresh, path), text)
  }
  await rm(LIB, { recursive: true, force: true })
  await rename(fresh, LIB)
}

/** The sources of all entries that have some. */
function entrySources({ exports }: ProjectManifest): readonly string[] {
  return Object.values(exports).flatMap((target) =>
    typeof target === 'string' || target['millrace-source'] === undefined ? [] : target['millrace-source'].slice(2),
  )
}

/** The templates' own check is none of an application's business. */
function isPublished(path: string): boolean {
  return path !== join(ROOT, 'templates/tsconfig.json')
}

/** @returns the path of the archive. */
async function pack(folder: string): Promise<string> {
  await using stage = await mkdtempDisposable(join(tmpdir(), 'millrace-package-'))
  await cp(LIB, join(stage.path, 'lib'), { recursive: true })
  for (const part of PARTS) await cp(join(ROOT, part), join(stage.path, part), { recursive: true, filter: isPublished })
  await writeFile(join(stage.path, 'package.json'), `${JSON.stringify(packageManifest(project), undefined, 2)}\n`)
  await mkdir(folder, { recursive: true })
  const { status, stdout } = spawnSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: stage.path,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error('npm pack has failed.')
  return join(folder, stdout.trim())
}
