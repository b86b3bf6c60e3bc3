import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { displayPath, type BuildOptions } from '../build-options.ts'
import { linkedPackages } from './linked-packages.ts'
import { CONFIG_FILES } from './load-config.ts'
import { findPostcssConfig } from '../assets/postcss-config.ts'
import { contentHash } from '../content-hash.ts'
import { OWN_RUNTIME } from '../runtime.ts'

/** Environment variables that are built into the bundles, and that browser code may read. */
const PUBLIC_NAME = /\bPUBLIC_[A-Z0-9_]+\b/g

/** What a build depends on in its project. */
const SOURCES = [
  'src',
  ...CONFIG_FILES,
  'tsconfig.json',
  'package.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
] as const

/** Everything that determines the output of a build. */
interface BuildInputs {
  /** Changes with every change of a source or a public variable. */
  readonly hash: string
  /** Public variables that the sources name. */
  readonly publicNames: readonly string[]
}

/** Reads all sources once; takes milliseconds, and works without installed packages. */
export function readBuildInputs(
  { root, app, runtime = OWN_RUNTIME, basePath = '' }: Pick<BuildOptions, 'root' | 'app' | 'runtime' | 'basePath'>,
  env: Readonly<Record<string, string | undefined>>,
): BuildInputs {
  // Not the checkout that has the runtime itself, where `node_modules` links to one.
  const linked = linkedPackages(root).filter((folder) => !runtime.folder.startsWith(folder + sep))
  const own = [root, ...linked].flatMap((folder) => SOURCES.map((source) => join(folder, source)))
  const styles = findPostcssConfig(root)
  const folders = [
    ...own,
    app,
    runtime.folder,
    resolve(import.meta.dirname, '..'),
    ...(styles === undefined ? [] : [styles]),
  ]
  const files = new Set(folders.flatMap(filesBelow))
  const names = new Set<string>()
  const parts: (string | Uint8Array)[] = [displayPath(root, app) + basePath]
  for (const file of files) {
    const contents = readFileSync(file)
    parts.push(displayPath(root, file), contents)
    for (const [name] of contents.toString('latin1').matchAll(PUBLIC_NAME)) names.add(name)
  }
  const publicNames = [...names].toSorted()
  for (const name of publicNames) parts.push(`${name}=${env[name] ?? ''}${env[name] === undefined ? '?' : '!'}`)
  return { hash: contentHash(...parts), publicNames }
}

/** Sorted by path, hidden files left out. */
function filesBelow(path: string): readonly string[] {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}
