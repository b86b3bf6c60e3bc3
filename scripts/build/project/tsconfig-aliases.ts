import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const MOST_EXTENDED = 10 // files; more mean a cycle

/** The members of a `tsconfig.json` that name modules. */
interface TsConfig {
  readonly extends?: unknown
  readonly compilerOptions?: { readonly baseUrl?: unknown; readonly paths?: Readonly<Record<string, unknown>> }
}

/**
 * The `paths` of a project's `tsconfig.json` as aliases: the bundler finds what the compiler finds. Each has one place, the
 * first that exists; a pattern ends in `/*`, or has no star.
 * @returns none for a file that cannot be read: the compiler says why.
 */
export async function tsconfigAliases(root: string): Promise<Readonly<Record<string, string>>> {
  const found = await pathsOf(resolve(root, 'tsconfig.json'))
  if (found === undefined) return {}
  const aliases = Object.entries(found.paths).flatMap(([pattern, targets]): [string, string][] => {
    const [, name] = /^([^./*][^*]*?)(?:\/\*)?$/.exec(pattern) ?? []
    const places = (Array.isArray(targets) ? targets : [])
      .filter((target) => typeof target === 'string' && target.endsWith('/*') === pattern.endsWith('/*'))
      // Files with only types, which are never bundled.
      .filter((target: string) => !/\.d\.[cm]?ts$|(?:^|\/)node_modules\//.test(target))
      .map((target: string) => resolve(found.folder, target.replace(/\/\*$/, '')))
    const place = places.find((one) => existsSync(one)) ?? places[0]
    return name === undefined || place === undefined ? [] : [[name, place]]
  })
  return Object.fromEntries(aliases)
}

/** Of the file, or of the nearest one that it extends. Their places are relative to the file that has them. */
async function pathsOf(first: string) {
  let file: string | undefined = first
  for (let read = 0; file !== undefined && read < MOST_EXTENDED; read += 1) {
    const { extends: base, compilerOptions = {} } = await readTsConfig(file)
    const { paths, baseUrl } = compilerOptions
    const folder: string = dirname(file)
    if (paths !== undefined) return { paths, folder: typeof baseUrl === 'string' ? resolve(folder, baseUrl) : folder }
    file =
      typeof base === 'string' && /^\.{1,2}\//.test(base)
        ? resolve(folder, base.replace(/(?<!\.json)$/, '.json'))
        : undefined
  }
  return undefined
}

/** JSON with comments and commas at its ends is JavaScript; most files have no `paths` and are not evaluated. */
async function readTsConfig(file: string): Promise<TsConfig> {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (!/"(?:paths|extends)"/.test(text)) return {}
  const module = `export default ${text.replace(/^\uFEFF/, '')}`
  return import(`data:text/javascript,${encodeURIComponent(module)}`).then(
    ({ default: config }: { readonly default: TsConfig }) => config,
    () => ({}),
  )
}
