/**
 * A step of the Dockerfile: `node scripts/container/stage-image.ts --packages <folder> --out <folder>`. Lays out the
 * file system of the image below `--out`. `--packages` contains `node_modules` and `sbom.json` of `npm ci --omit=dev`;
 * the build is taken from `dist`, everything else from the working directory.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isChapterPath } from '../../src/shared/handbook/index.ts'
import { billOfMaterials, type BillOfMaterials } from './bill-of-materials.ts'
import { bundledPackages } from './bundled-packages.ts'
import { packageClosure, type InstalledPackage } from './package-closure.ts'
import { systemFiles, type SystemFile } from './system-files.ts'

/** Files that Node never reads when it runs a package: types, maps of bundled packages, prose; licences stay. */
const NOT_RUN = /\.(?:map|flow|[cm]?ts|md|markdown)$/i
const LICENCE = /^(?:licen[cs]e|copying|notice)/i

const TEMPORARY_MODE = 0o1777 // the usual mode of /tmp
/** Names that programs look up for their user; ids as in the official image. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/:/nonexistent\nnode:x:1000:1000::/data:/nonexistent\n',
  'etc/group': 'root:x:0:\nnode:x:1000:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

const { values } = parseArgs({ options: { packages: { type: 'string' }, out: { type: 'string' } } })
const packagesFolder = resolve(values.packages ?? 'production')
const image = resolve(values.out ?? 'image')

const packages = await packageClosure(resolve('dist/server/main.js'), packagesFolder)
const bundled = bundledPackages(resolve('dist'), resolve())
const system = systemFiles()
stageApplication()
stagePackages(packages)
stageLicences(bundled)
stageSystem(system)
stageBill()
console.log(
  `Staged ${packages.length} packages, ${bundled.length} more in bundles, and ${system.length} files of the system.`,
)

function stageApplication(): void {
  for (const name of ['dist', 'package.json', 'LICENSE']) {
    cpSync(name, join(image, 'app', name), { recursive: true })
  }
  cpSync('deploy/health-check.mjs', join(image, 'app/health-check.mjs'))
  // Only the handbook's chapters and its reference; other subfolders are for readers of the sources.
  for (const name of readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter(isChapterPath)) {
    cpSync(join('docs', name), join(image, 'app/docs', name))
  }
}

function stagePackages(found: readonly InstalledPackage[]): void {
  for (const { folder } of found) {
    cpSync(folder, join(image, 'app', relative(packagesFolder, folder)), {
      recursive: true,
      filter: (path) => basename(path) !== 'node_modules' && (LICENCE.test(basename(path)) || !NOT_RUN.test(path)),
    })
  }
}

/** Of bundled packages: their code is in the image, their folders are not. */
function stageLicences(found: readonly InstalledPackage[]): void {
  for (const { name, version, folder } of found) {
    for (const file of readdirSync(folder).filter((file) => LICENCE.test(file))) {
      cpSync(join(folder, file), join(image, 'app/licences', `${name}@${version}`, file), { recursive: true })
    }
  }
}

function stageSystem(files: readonly SystemFile[]): void {
  for (const { from, to, owner } of files) {
    cpSync(realpathSync(from), join(image, to))
    const copyright = `/usr/share/doc/${owner?.name ?? 'node'}/copyright`
    if (existsSync(copyright)) cpSync(realpathSync(copyright), join(image, copyright))
  }
  for (const [path, content] of Object.entries(ACCOUNTS)) {
    mkdirSync(dirname(join(image, path)), { recursive: true })
    writeFileSync(join(image, path), content)
  }
  mkdirSync(join(image, 'tmp'), { recursive: true })
  chmodSync(join(image, 'tmp'), TEMPORARY_MODE)
}

function stageBill(): void {
  const fromNpm = JSON.parse(readFileSync(join(packagesFolder, 'sbom.json'), 'utf8')) as BillOfMaterials
  const bill = billOfMaterials(fromNpm, { packages, bundled, system, nodeVersion: process.versions.node })
  writeFileSync(join(image, 'app/sbom.json'), `${JSON.stringify(bill, undefined, 2)}\n`)
}
