import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BillOfMaterials } from './bill-of-materials.ts'
import { bundledFolders, packageName } from './bundled-packages.ts'
import { readTree, type TreeEntry } from './image-tree.ts'
import type { BuiltImage } from './engine.ts'
import { createCheckList } from './check-list.ts'

const NODE = '/usr/local/bin/node'
const ENVIRONMENT = 'DATA_DIR,NODE_ENV,PATH' // the engine sets PATH
const MOST_BYTES = 250_000_000 // uncompressed; what an engine shows as the image's size
const SET_ID_BITS = 0o6000
const WRITABLE_BY_OTHERS = 0o022
const NO_PRODUCT =
  /^\/app\/(?!dist\/(?!former\/)|docs\/|licences\/|node_modules\/|(?:package|sbom)\.json$|LICENSE$|health-check\.mjs$)/
const SHELL = /\/(?:sh|bash|dash|ash|busybox|npm|npx|apt|apt-get|dpkg|perl|python3?)$/

/**
 * Checks an image without running it, and prints the results.
 * @param nodeVersion as pinned in package.json.
 * @returns titles of failed checks.
 */
export function checkContents({ root, config }: BuiltImage, nodeVersion: string): readonly string[] {
  const { check, faults } = createCheckList()
  const tree = readTree(root)
  const files = tree.filter(({ kind }) => kind === 'file')
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  console.log('\nContents')
  check('under 250 MB, all layers', bytes < MOST_BYTES, `${megabytes(bytes)} MB in ${files.length} files`)
  for (const [name, part] of shares(files)) console.log(`       ${megabytes(part).padStart(6)} MB ${name}`)
  check(
    'nothing of the sources, tests, tools or former builds',
    ...none(files.filter(({ path }) => NO_PRODUCT.test(path))),
  )
  check('no shell, no package manager', ...none(files.filter(({ path, mode }) => SHELL.test(path) && isProgram(mode))))
  check('no set-uid and no set-gid files', ...none(files.filter(({ mode }) => (mode & SET_ID_BITS) !== 0)))
  const writable = ({ path, uid, mode, kind }: TreeEntry): boolean =>
    kind !== 'link' && !['/assets', '/data', '/tmp'].includes(path) && (uid !== 0 || (mode & WRITABLE_BY_OTHERS) !== 0)
  check('root owns everything but /assets, /data and /tmp, and nobody else may write', ...none(tree.filter(writable)))
  check('every file can be read by the user', ...none(files.filter(({ mode }) => (mode & 0o004) === 0)))
  checkConfig()
  checkBill()
  return faults

  /** The image's settings for engines. */
  function checkConfig(): void {
    check('runs as a user that is not root, by number', /^[1-9]\d*:[1-9]\d*$/.test(config.user), config.user)
    check('/data is its one volume', config.volumes.join() === '/data', config.volumes.join())
    check('it exposes its port', config.ports.join() === '3000/tcp', config.ports.join())
    check('process 1 is tini', config.entrypoint.join(' ') === '/usr/local/bin/tini --', config.entrypoint.join(' '))
    check('its command starts Node without a shell', config.command[0] === NODE, config.command.join(' '))
    const [form, program] = config.healthCheck
    check('so does its health check', form === 'CMD' && program === NODE, config.healthCheck.join(' '))
    check('it ends by SIGTERM', config.stopSignal === 'SIGTERM', config.stopSignal)
    const names = Object.keys(config.env).toSorted().join()
    check('its environment has production and a folder, and nothing else', names === ENVIRONMENT, names)
    check('it is in production mode', config.env['NODE_ENV'] === 'production')
  }

  function checkBill(): void {
    const bill = JSON.parse(readFileSync(join(root, 'app/sbom.json'), 'utf8')) as BillOfMaterials
    const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`))
    const packages = files.flatMap(({ path, file }) => {
      if (!/\/node_modules\/(?:@[^/]+\/)?[^/@]+\/package\.json$/.test(path)) return []
      const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string }
      return version === undefined ? [] : [`${name}@${version}`]
    })
    const names = new Set(bill.components.map(({ name }) => name))
    const bundled = bundledFolders(join(root, 'app/dist')).map(packageName)
    const missing = [...packages.filter((name) => !listed.has(name)), ...bundled.filter((name) => !names.has(name))]
    check(
      'the bill of materials lists every package, those in the bundles too',
      missing.length === 0,
      missing.join(', ') || `${packages.length} packages, ${bundled.length} in bundles; ${listed.size} parts`,
    )
    // A package without a licence file states its licence in the bill alone.
    const unlicensed = bundled.filter(
      (name) =>
        !tree.some(({ path }) => path.startsWith(`/app/licences/${name}@`)) &&
        bill.components.some((component) => component.name === name && component['licenses'] === undefined),
    )
    check('the licences of bundled packages are there', unlicensed.length === 0, unlicensed.join(', '))
    const licences = files.filter(({ path }) => /\/(?:licen[cs]e|copying|copyright)[^/]*$/i.test(path)).length
    check(
      'it has node’s version',
      bill.components.some(({ name, version }) => version === nodeVersion && name === 'node'),
      nodeVersion,
    )
    check('licences came along', licences > 0 && existsSync(join(root, 'app/LICENSE')), `${licences} files`)
  }
}

function isProgram(mode: number): boolean {
  return (mode & 0o111) !== 0
}

function none(entries: readonly TreeEntry[]): [boolean, string] {
  return [
    entries.length === 0,
    entries
      .map(({ path }) => path)
      .slice(0, 5)
      .join(', '),
  ]
}

function shares(files: readonly TreeEntry[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { path, size } of files) {
    const name = /^\/app\/[^/]+/.exec(path)?.[0] ?? (path.endsWith('/node') ? 'node' : 'libraries and tini')
    sums.set(name, (sums.get(name) ?? 0) + size)
  }
  return sums
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
