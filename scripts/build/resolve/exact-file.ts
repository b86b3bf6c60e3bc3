import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, matchesGlob, relative, sep } from 'node:path'
import type { ResolveResult } from 'esbuild'
import { isPackageFile } from '../runtime.ts'

/** What a manifest says of the files below it. */
interface Manifest {
  readonly folder: string
  readonly sideEffects: unknown
  /** Leads imports to other files for browsers. */
  readonly browser: unknown
}

/** Patterns that mean the same here and in esbuild. */
const PLAIN_GLOB = /^(?:\.\/)?[\w@-][\w@.-]*(?:\/(?:[\w@-][\w@.-]*|\*\*))*$/

/**
 * Resolves relative imports that name their file exactly, as most do, in a hundredth of the time that esbuild takes for a
 * request of a plugin.
 * @returns for an absolute path, the result that esbuild would give; `undefined` if it has to be asked: for links, for
 * files of packages, and where a manifest says more than is understood here.
 */
export function exactFiles(): (target: string) => ResolveResult | undefined {
  const manifests = new Map<string, Manifest | undefined>()

  function manifestOf(folder: string): Manifest | undefined {
    if (manifests.has(folder)) return manifests.get(folder)
    const above = dirname(folder)
    const manifest = readManifest(folder) ?? (above === folder ? undefined : manifestOf(above))
    manifests.set(folder, manifest)
    return manifest
  }

  return (target) => {
    if (isPackageFile(target) || !isPlainFile(target)) return undefined
    const sideEffects = sideEffectsOf(manifestOf(dirname(target)), target)
    if (sideEffects === undefined) return undefined
    const found = { path: target, namespace: 'file', suffix: '', external: false, sideEffects, pluginData: undefined }
    return { ...found, errors: [], warnings: [] }
  }
}

/** Not through a link, and in the case that the file has. */
function isPlainFile(file: string): boolean {
  try {
    return statSync(file).isFile() && realpathSync.native(file) === file
  } catch {
    return false
  }
}

/** A manifest that cannot be read is left to esbuild. */
function readManifest(folder: string): Manifest | undefined {
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8')
    const { sideEffects, browser } = parsed(text)
    return { folder, sideEffects, browser }
  } catch {
    return undefined
  }
}

function parsed(text: string): { readonly sideEffects?: unknown; readonly browser?: unknown } {
  try {
    return JSON.parse(text)
  } catch {
    return { sideEffects: 'unknown' }
  }
}

function sideEffectsOf(manifest: Manifest | undefined, file: string): boolean | undefined {
  if (manifest === undefined) return true
  const { folder, sideEffects, browser } = manifest
  if (typeof browser === 'object') return undefined
  if (sideEffects === undefined) return true
  if (typeof sideEffects === 'boolean') return sideEffects
  if (!Array.isArray(sideEffects) || file.includes(`${sep}.`)) return undefined
  const patterns = sideEffects.filter((pattern) => typeof pattern === 'string' && PLAIN_GLOB.test(pattern))
  if (patterns.length < sideEffects.length || patterns.some((pattern) => !pattern.includes('/'))) return undefined
  const path = relative(folder, file).replaceAll(sep, '/')
  return patterns.some((pattern) => matchesGlob(path, pattern.replace(/^\.\//, '')))
}
