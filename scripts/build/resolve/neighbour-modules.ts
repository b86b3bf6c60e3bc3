import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RELATIVE_SCRIPT = /^\.{1,2}\/.*\.m?js$/

/** A module that needs no question to Node, as a hook of `registerHooks` answers it. */
interface Neighbour {
  readonly url: string
  readonly format: 'module'
  readonly shortCircuit: true
}

/** A folder with a manifest, which says how its scripts are to be read. */
interface Scope {
  readonly folder: string
  readonly isModule: boolean
}

/**
 * Finds the modules that a package's modules name exactly: most of what packages import. Node reads the manifest again for each of
 * them, which takes a second where that is large. What it cannot tell for certain is left to Node.
 */
export function neighbourModules(): (specifier: string, parentURL: string) => Neighbour | undefined {
  const scopes = new Map<string, Scope | undefined>()

  function scopeOf(folder: string): Scope | undefined {
    if (scopes.has(folder)) return scopes.get(folder)
    const scope = scopeIn(folder) ?? (dirname(folder) === folder ? undefined : scopeOf(dirname(folder)))
    scopes.set(folder, scope)
    return scope
  }

  return (specifier, parentURL) => {
    if (!RELATIVE_SCRIPT.test(specifier) || !parentURL.startsWith('file:')) return undefined
    const { href: url, search, hash } = new URL(specifier, parentURL)
    if (search !== '' || hash !== '' || url.includes('%')) return undefined
    const file = fileURLToPath(url)
    const scope = scopeOf(dirname(file))
    // Outside of one package, a folder may be a link.
    if (scope === undefined || scope !== scopeOf(dirname(fileURLToPath(parentURL)))) return undefined
    if (!scope.isModule && extname(file) !== '.mjs') return undefined
    return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true
      ? { url, format: 'module', shortCircuit: true }
      : undefined
  }
}

function scopeIn(folder: string): Scope | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return undefined
  const { type }: { type?: unknown } = JSON.parse(readFileSync(file, 'utf8'))
  return { folder, isModule: type === 'module' }
}
