import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { INTERFACE_OPTIONS } from '../../build/build-options.ts'

/** In esbuild's output, where every statement is at the start of a line and no string spans two. */
const STATEMENT = /^(?:import\b[^;]*;|export (?:\{[^}]*\}|\*[^;]*?) from [^;]*;)$/gm
const CALL = /\b(?:import|require)\([^)]*\)/g

const CLOCK_MS = 20 // the times of files are a few milliseconds behind the clock

/** What a module has to do with others. */
export interface ModuleInterface {
  /** Its import statements, those of re-exports included, one a line. */
  readonly imports: string
  /** Names. */
  readonly exports: readonly string[]
}

/** Interfaces by the modules' paths in the project. */
export type ModuleInterfaces = ReadonlyMap<string, ModuleInterface>

/**
 * Reads the interfaces of modules from their texts, in one pass without resolving anything. While they stay the same and
 * no file is new or gone, no other module is affected, and the graph of modules is the same.
 * @param keys paths in the project.
 * @param before leaves out files that were written after this time, in milliseconds since 1970.
 * @throws esbuild's failure, if one of them does not parse.
 */
export async function readInterfaces(
  root: string,
  keys: readonly string[],
  before = Number.POSITIVE_INFINITY,
): Promise<ModuleInterfaces> {
  if (keys.length === 0) return new Map()
  const { outputFiles, metafile } = await build({
    entryPoints: keys.map((key, index) => ({ in: join(root, key), out: String(index) })),
    absWorkingDir: root,
    outdir: join(root, 'dist/interfaces'),
    ...INTERFACE_OPTIONS,
    jsxDev: true,
  })
  const exported = Object.values(metafile.outputs).map(({ exports }) => exports)
  const interfaces = keys.map((key, index) => {
    const text = outputFiles[index]?.text ?? ''
    const imports = [...(text.match(STATEMENT) ?? []), ...(text.match(CALL) ?? [])].join('\n')
    return [key, { imports, exports: exported[index] ?? [] }] as const
  })
  const times = await Promise.all(keys.map(async (key) => (await stat(join(root, key))).mtimeMs))
  return new Map(interfaces.filter((_, index) => (times[index] ?? 0) < before - CLOCK_MS))
}
