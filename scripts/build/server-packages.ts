import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, sep } from 'node:path'
import type { Plugin } from 'esbuild'
import { isLookUp, lookUp } from './look-up.ts'

/** Packages that must have one copy, in production mode regardless of the environment. */
const BUNDLED = new Set(['react', 'react-dom', 'scheduler'])

const NODE_MODULES = `${sep}node_modules${sep}`

/** Imports of files that Node cannot run; they are always bundled. */
const NEVER_EXTERNAL = /\.(?:css|[jt]sx)$/

/**
 * Leaves the packages of a production install, the `dependencies` of the project's package.json, to Node at run time.
 * All other packages become part of the bundle, and so do React and everything built on it, wherever they are listed: a
 * component library loaded by Node would load a second React, and hooks would fail.
 * @param root the project, from which the bundle will import.
 */
export function serverPackages(root: string): Plugin {
  const usesReact = reactUsers()
  const installed = new Set(Object.keys(readManifest(root).dependencies ?? {}))
  return {
    name: 'server-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./#]/ }, async (args) => {
        if (args.kind === 'entry-point' || isLookUp(args) || isBuiltin(args.path)) return undefined
        const found = await lookUp(build, args)
        // Unknown to esbuild: it reports the error, or a plugin resolves the name.
        if (found === undefined || found.namespace !== 'file' || found.external) return undefined
        if (NEVER_EXTERNAL.test(found.path) || !found.path.includes(NODE_MODULES)) return undefined
        const folder = packageFolder(found.path)
        if (!installed.has(packageName(folder)) || usesReact(folder)) return undefined
        // The bundle cannot reach a bundled package's own copy of a dependency: it is bundled too.
        const { importer } = args
        const fromRoot = importer.includes(NODE_MODULES) ? await lookUp(build, { ...args, resolveDir: root }) : found
        return fromRoot?.path === found.path ? { path: args.path, external: true } : undefined
      })
    },
  }
}

/** `…/node_modules/name` or `…/node_modules/@scope/name` of a file in a package. */
function packageFolder(file: string): string {
  const start = file.lastIndexOf(NODE_MODULES) + NODE_MODULES.length
  const [first = '', second = ''] = file.slice(start).split(sep)
  return file.slice(0, start) + (first.startsWith('@') ? join(first, second) : first)
}

function packageName(folder: string): string {
  return folder.slice(folder.lastIndexOf(NODE_MODULES) + NODE_MODULES.length).replaceAll(sep, '/')
}

interface PackageManifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Whether a package depends on React, directly or not; reads each manifest once. */
function reactUsers(): (folder: string) => boolean {
  const known = new Map<string, boolean>()

  function usesReact(folder: string): boolean {
    const answer = known.get(folder)
    if (answer !== undefined) return answer
    known.set(folder, false) // ends cycles of dependencies
    const { name = '', dependencies, peerDependencies }: PackageManifest = readManifest(folder)
    const needs = Object.keys({ ...dependencies, ...peerDependencies })
    const uses =
      BUNDLED.has(name) ||
      needs.some((need) => {
        if (BUNDLED.has(need)) return true
        const found = installedFolder(folder, need)
        return found !== undefined && usesReact(found)
      })
    known.set(folder, uses)
    return uses
  }

  return usesReact
}

function readManifest(folder: string): PackageManifest {
  const file = join(folder, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

/** Node's own search: the nearest `node_modules` above that has the package. */
function installedFolder(from: string, name: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(folder)) return folder
    if (dirname(at) === at) return undefined
  }
}
