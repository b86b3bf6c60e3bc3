import type { Metafile } from 'esbuild'

/** The keys of modules from the entry, or a module of the table, to one of the modules asked for. */
export type ChainTo = (modules: readonly string[]) => readonly string[]

/** Where chains begin. */
export interface ChainStarts {
  /** Key of the browser's entry. */
  readonly entry: string
  /** Keys of the table's modules. */
  readonly table: readonly string[]
}

interface Step {
  readonly module: string
  /** Its own chunk, or that of the importer if the bundler has left nothing of it. */
  readonly chunk: string | undefined
  readonly from: Step | undefined
  readonly depth: number
}

/**
 * Finds the shortest chains of imports. A chain follows imports between chunks that are in the output, because a
 * metafile also lists imports that were dropped for being unused. A module that every page loads has a chain from the
 * entry; any other one from a module of the table or, if only an `import()` leads to it, from either.
 */
export function createImportChains(metafile: Metafile, { entry, table }: ChainStarts): ChainTo {
  const graph = createChunkGraph(metafile)
  const searches = [search(graph, [entry], false), search(graph, table, false), search(graph, [entry, ...table], true)]
  return (modules) => {
    for (const found of searches) {
      const steps = modules.flatMap((module) => found.get(module) ?? [])
      const nearest = steps.toSorted((a, b) => a.depth - b.depth)[0]
      if (nearest !== undefined) return modulesOf(nearest)
    }
    return modules.slice(0, 1)
  }
}

interface ChunkGraph {
  readonly inputs: Metafile['inputs']
  readonly chunkOf: ReadonlyMap<string, string>
  /** Whether code of one chunk may import this module, which is in another one. */
  leads(from: string | undefined, to: string | undefined, target: string, isDynamic: boolean): boolean
}

function createChunkGraph({ inputs, outputs }: Metafile): ChunkGraph {
  const chunkOf = new Map<string, string>()
  const imports = new Map<string, ReadonlySet<string>>()
  const lazy = new Map<string, ReadonlySet<string | undefined>>()
  for (const [chunk, output] of Object.entries(outputs)) {
    if (!chunk.endsWith('.js')) continue
    for (const module of Object.keys(output.inputs)) chunkOf.set(module, chunk)
    const isLazy = ({ kind }: { kind: string }): boolean => kind === 'dynamic-import'
    imports.set(chunk, new Set(output.imports.filter((one) => !isLazy(one)).map(({ path }) => path)))
    lazy.set(chunk, new Set(output.imports.filter(isLazy).map(({ path }) => outputs[path]?.entryPoint)))
  }
  return {
    inputs,
    chunkOf,
    leads(from, to, target, isDynamic) {
      if (from === undefined) return true
      if (isDynamic) return lazy.get(from)?.has(target) === true
      return to === undefined || from === to || imports.get(from)?.has(to) === true
    },
  }
}

/** Breadth first. @param followsLazy whether `import()` counts. */
function search(graph: ChunkGraph, starts: readonly string[], followsLazy: boolean): ReadonlyMap<string, Step> {
  const found = new Map<string, Step>()
  // What left nothing in the output has no chunk, and may be passed on the way from several.
  const seen = new Set<string>()
  const waiting: Step[] = []
  const reach = (module: string, chunk: string | undefined, from?: Step): void => {
    const own = graph.chunkOf.get(module)
    const key = own === undefined ? `${chunk ?? ''}\n${module}` : module
    if (seen.has(key)) return
    seen.add(key)
    const step: Step = { module, chunk: own ?? chunk, from, depth: from === undefined ? 0 : from.depth + 1 }
    if (!found.has(module)) found.set(module, step)
    waiting.push(step)
  }
  for (const start of starts) reach(start, graph.chunkOf.get(start))
  for (const step of waiting) {
    for (const { path, kind, external } of graph.inputs[step.module]?.imports ?? []) {
      const isDynamic = kind === 'dynamic-import'
      if (external === true || (isDynamic && !followsLazy)) continue
      const to = graph.chunkOf.get(path)
      if (graph.leads(step.chunk, to, path, isDynamic)) reach(path, isDynamic ? to : step.chunk, step)
    }
  }
  return found
}

function modulesOf(last: Step): readonly string[] {
  const chain: string[] = []
  for (let step: Step | undefined = last; step !== undefined; step = step.from) chain.unshift(step.module)
  return chain
}
