import { spawn } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { COMMANDS } from './help.js'
import { isNodeNewEnough } from './node-version.js'

const PACKAGE = resolve(import.meta.dirname ?? fileURLToPath(new URL('.', import.meta.url)), '..')

/** Of npm: what a package may be called, without a scope. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/
const VERSION = /^[~^]?\d+\.\d+\.\d+[\w.+-]*$/
const ARCHIVE = /\.tgz$/

/** Names that npm would not put into an archive, or take for its own there. */
const RENAMED = {
  gitignore: '.gitignore',
  dockerignore: '.dockerignore',
  'github-workflows': join('.github', 'workflows'),
}

/** A failure that only the user can fix. */
class Fault extends Error {}

/**
 * `millrace new <folder>`: writes an application, all of it or nothing, and installs its packages.
 * @param {readonly string[]} args
 * @param {(fault: string) => void} fail Told what is wrong, in one line.
 */
export async function makeApplication(args, fail) {
  try {
    const { folder, templates, install, from } = readArguments(args)
    const name = nameOf(folder)
    await requireEmpty(folder)
    const millrace = await dependency(folder, from)
    await write(folder, await filesOf(templates, { name, millrace: millrace.spec }), millrace)
    const shown = relative(process.cwd(), folder) || '.'
    if (install) await installPackages(folder, shown)
    const steps = [...(shown === '.' ? [] : [`cd ${shown}`]), ...(install ? [] : ['npm install']), 'npm run dev']
    const without = install ? '' : ' It has no lock file yet: npm install makes one.'
    console.log(`Created ${name} in ${shown}.${without} Next steps:\n\n${steps.map((step) => `  ${step}\n`).join('')}`)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    fail(error.message)
  }
}

/** @param {readonly string[]} args */
function readArguments(args) {
  const options = /** @type {const} */ ({
    minimal: { type: 'boolean', default: false },
    tailwind: { type: 'boolean', default: false },
    package: { type: 'string' },
    'no-install': { type: 'boolean', default: false },
  })
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [folder, ...others] = positionals
    if (folder === undefined || folder === '' || others.length > 0) throw new Error('millrace new takes one folder')
    const templates = values.minimal
      ? ['minimal', ...(values.tailwind ? ['tailwind-minimal'] : [])]
      : ['application', ...(values.tailwind ? ['tailwind'] : [])]
    return { folder: resolve(folder), templates, install: !values['no-install'], from: values.package }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Fault(
      `${reason.split('. ')[0]}. Usage: millrace new ${COMMANDS['new']?.usage}; --help lists the options.`,
    )
  }
}

/** @param {string} folder */
function nameOf(folder) {
  const name = basename(folder).toLowerCase().replace(/\s+/g, '-')
  if (NAME.test(name)) return name
  throw new Fault(`${basename(folder)} cannot be the name of a package: use letters, digits, - and _.`)
}

/** @param {string} folder */
async function requireEmpty(folder) {
  const found = await stat(folder).catch(() => undefined)
  if (found === undefined) return
  if (!found.isDirectory()) throw new Fault(`${folder} is a file. Choose an empty folder, or a new one.`)
  if ((await readdir(folder)).length > 0) {
    throw new Fault(`${folder} is not empty. Choose an empty folder, or a new one.`)
  }
}

/**
 * What the application depends on: a version, or an archive that is put beside its package.json, so that a clone, a
 * container and continuous integration find it too.
 * @typedef {{ readonly spec: string, readonly archive?: string }} Dependency
 * @param {string} folder
 * @param {string | undefined} from A version, or the path of an archive.
 * @returns {Promise<Dependency>}
 */
async function dependency(folder, from) {
  const wanted = from ?? (await ownOrigin())
  if (VERSION.test(wanted)) return { spec: wanted }
  const archive = resolve(wanted)
  const found = await stat(archive).catch(() => undefined)
  if (!ARCHIVE.test(wanted) || found?.isFile() !== true) {
    throw new Fault(`--package ${wanted} is neither a version, such as 0.1.0, nor an existing archive.`)
  }
  return { spec: `file:${basename(archive)}`, archive }
}

/** Where the running package was installed from: its version in a registry, or its archive. */
async function ownOrigin() {
  const installed = await readFile(join(dirname(PACKAGE), '.package-lock.json'), 'utf8').catch(() => undefined)
  const entry =
    installed === undefined ? undefined : JSON.parse(installed).packages?.[`node_modules/${basename(PACKAGE)}`]
  const origin = /^file:(.+\.tgz)$/.exec(entry?.resolved ?? '')?.[1]
  if (origin !== undefined) return resolve(dirname(dirname(PACKAGE)), origin)
  if (entry?.version !== undefined) return `^${entry.version}`
  throw new Fault('Name the version of millrace that the application uses: --package <version or archive>.')
}

/**
 * @param {readonly string[]} templates Files of a later one replace those of the ones before; to package.json it adds.
 * @param {{ readonly name: string, readonly millrace: string }} values
 * @returns {Promise<ReadonlyMap<string, string>>} contents by path.
 */
async function filesOf(templates, { name, millrace }) {
  const versions = await knownVersions()
  const files = new Map()
  const manifests = []
  for (const template of templates) {
    const root = join(PACKAGE, 'templates', template)
    const entries = await readdir(root, { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name)
      const text = (await readFile(path, 'utf8'))
        .replaceAll('APP_NAME', name)
        .replaceAll('NODE_VERSION', versions['node'] ?? '')
      files.set(renamed(relative(root, path)), text)
    }
    manifests.push(JSON.parse(files.get('package.json')))
  }
  const [manifest, ...added] = manifests
  // Two thirds of an installation, so it is there only for those who could not run the scripts without it.
  if (isNodeNewEnough()) delete manifest.devDependencies.node
  for (const group of [manifest.dependencies, manifest.devDependencies]) {
    for (const key of Object.keys(group)) group[key] = key === 'millrace' ? millrace : rangeOf(key, versions)
  }
  Object.assign(manifest.devDependencies, ...added.map(({ devDependencies }) => devDependencies))
  return files.set('package.json', `${JSON.stringify(manifest, undefined, 2)}\n`)
}

/** @param {string} path */
function renamed(path) {
  const [first = '', ...rest] = path.split(sep)
  return join(Object.hasOwn(RENAMED, first) ? RENAMED[/** @type {keyof typeof RENAMED} */ (first)] : first, ...rest)
}

/** The versions that this package is tested with. */
async function knownVersions() {
  const { millrace, dependencies, devDependencies } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'))
  return /** @type {Record<string, string>} */ (millrace?.versions ?? { ...dependencies, ...devDependencies })
}

/**
 * @param {string} name
 * @param {Readonly<Record<string, string>>} versions
 */
function rangeOf(name, versions) {
  const version = versions[name]
  if (version === undefined) throw new Error(`No version of ${name} is known.`)
  return name === 'node' ? version : `^${version}`
}

/**
 * Writes beside the folder and renames at the end.
 * @param {string} folder
 * @param {ReadonlyMap<string, string>} files
 * @param {Dependency} millrace
 */
async function write(folder, files, { archive }) {
  const stage = `${folder}.new-${process.pid}`
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(join(stage, path)), { recursive: true })
      await writeFile(join(stage, path), text)
    }
    if (archive !== undefined) await copyFile(archive, join(stage, basename(archive)))
    await rmdir(folder).catch(() => undefined) // where it is there, it is empty
    await rename(stage, folder)
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

/** Of npm's own, set for what `npx` runs: they would lead an installation elsewhere. */
const OF_NPX =
  /^(?:npm_config_(?:local_prefix|prefix|global|package|call|workspace|workspaces)|npm_(?:package|lifecycle)_.*|INIT_CWD)$/i

/**
 * @param {string} folder
 * @param {string} shown
 */
async function installPackages(folder, shown) {
  console.error('Installing packages …')
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_NPX.test(name)))
  const child = spawn('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  })
  const said = /** @type {Buffer[]} */ ([])
  child.stderr.on('data', (data) => said.push(data))
  const code = await new Promise((done) => {
    child.once('error', () => done(1))
    child.once('close', done)
  })
  if (code !== 0) {
    const reason = Buffer.concat(said).toString('utf8').trim()
    throw new Fault(
      `${reason}\nThe application is in ${shown}, and npm could not install its packages. Run npm install there.`,
    )
  }
}
