import type { Metafile } from 'esbuild'
import { withoutReferences } from '../../build/sides/action-references.ts'
import { CSS_FILE } from '../../build/assets/css-files.ts'

/**
 * The modules of the browser's bundle and their importers; keys are paths in the project. A module with actions belongs
 * to it if its references do.
 */
export interface ModuleGraph {
  /** Modules that import this one, statically or not. */
  importersOf(key: string): readonly string[]
  has(key: string): boolean
  /** The modules that are made of a file: that of its path, and those with a query behind it. */
  madeOf(file: string): readonly string[]
  /** Stylesheets in it. */
  readonly styles: ReadonlySet<string>
}

/** Update of open pages after a change. */
type HotUpdate =
  | { readonly kind: 'reload'; readonly reason: string }
  | {
      readonly kind: 'update'
      /** Modules whose components are refreshed. */
      readonly accepted: readonly string[]
      /**
       * Those and every module between them and a changed one: all need new URLs, or browsers would use old instances.
       */
      readonly renewed: readonly string[]
    }

const GRAPHS = new WeakMap<Metafile, ModuleGraph>()

/** The graph of esbuild's metafile; read once, because most saves leave the bundle as it is. */
export function moduleGraph(metafile: Metafile): ModuleGraph {
  const graph = GRAPHS.get(metafile) ?? readGraph(metafile)
  GRAPHS.set(metafile, graph)
  return graph
}

function readGraph(metafile: Metafile): ModuleGraph {
  const importers = new Map<string, string[]>()
  const keys = new Set<string>()
  const styles = new Set<string>()
  for (const [input, { imports }] of Object.entries(metafile.inputs)) {
    const key = withoutReferences(input)
    keys.add(key)
    if (key.startsWith(`${CSS_FILE}:`)) styles.add(key.slice(CSS_FILE.length + 1))
    for (const { path, external } of imports) {
      if (external) continue
      const imported = withoutReferences(path)
      const known = importers.get(imported)
      if (known === undefined) importers.set(imported, [key])
      else known.push(key)
    }
  }
  return {
    importersOf: (key) => importers.get(key) ?? [],
    has: (key) => keys.has(key),
    madeOf: (file) => [...keys].filter((key) => key === file || key.startsWith(`${file}?`)),
    styles,
  }
}

/**
 * Plans the smallest update that leaves no module outdated.
 *
 * From each changed module upward: a module that exports only components is refreshed, and the search ends there,
 * because React replaces components in place. Any other module has passed its old exports to its importers, so these
 * are reloaded too. If this reaches a module without importers, the document is reloaded.
 * @param changed paths of changed files in the project.
 * @param refreshable whether a module exports only components.
 */
export function planUpdate(
  graph: ModuleGraph,
  changed: readonly string[],
  refreshable: (key: string) => boolean,
): HotUpdate {
  const accepted = new Set<string>()
  const renewed = new Set<string>()
  const waiting = changed.filter((key) => graph.has(key))
  for (const key of waiting) {
    if (renewed.has(key)) continue
    renewed.add(key)
    if (refreshable(key)) {
      accepted.add(key)
      continue
    }
    const importers = graph.importersOf(key)
    if (importers.length === 0) return { kind: 'reload', reason: key }
    waiting.push(...importers)
  }
  return { kind: 'update', accepted: [...accepted], renewed: [...renewed] }
}
