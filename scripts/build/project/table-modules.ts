import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Metafile } from 'esbuild'
import { BuildFault } from '../build-fault.ts'
import { REQUIRED_PACKAGE } from '../resolve/server-packages.ts'
import { isServerModule } from '../sides/server-wall.ts'
import { entryPlace } from './entry-places.ts'
import type { RouteSources } from './inspect-application.ts'

/** Table members whose modules only the server loads. */
export const SERVER_KINDS: ReadonlySet<string> = new Set(['guard', 'loader', 'layoutLoader', 'handler'])

/** The browser modules of the table, each once, in the table's order. */
export function browserModules(sources: RouteSources): readonly string[] {
  const modules = Object.values(sources).flatMap((kinds) =>
    Object.entries(kinds).flatMap(([kind, source]) => (SERVER_KINDS.has(kind) ? [] : [source])),
  )
  return [...new Set(modules)]
}

/**
 * Checks that the names of the table's modules fit the side that loads them. The server wall judges by names: a loader
 * without a server module's name would be sent to browsers with all its code.
 * @param app the application's folder.
 * @throws {BuildFault} for the first misnamed module.
 */
export function checkTableModules(
  context: { readonly root: string; readonly app: string },
  sources: RouteSources,
): void {
  for (const [pattern, kinds] of Object.entries(sources)) {
    for (const [kind, source] of Object.entries(kinds)) {
      if (SERVER_KINDS.has(kind) === isServerModule(source)) continue
      const what = `${source} is the ${kind} of '${pattern}'`
      throw new BuildFault(
        SERVER_KINDS.has(kind)
          ? `${what}, and its code would reach the browser: a module that only the server may load has a name that ends in .server.ts. Rename it.`
          : `${what}, which browsers load, but *.server.* modules never reach them. Use a module with a component, or rename this one.`,
        entryPlace(context, pattern, kind),
      )
    }
  }
}

/**
 * Checks that modules of pages, layouts and fallbacks export a component.
 * @param context the folders of project and application.
 * @param metafile of the browser's bundle.
 * @throws {BuildFault} for the first one that lacks it.
 */
export function checkComponents(
  context: { readonly root: string; readonly app: string },
  { outputs }: Metafile,
  sources: RouteSources,
): void {
  const chunks = Object.values(outputs).map(({ entryPoint, exports }) => [entryPoint, exports] as const)
  const exported = new Map(chunks)
  for (const [pattern, kinds] of Object.entries(sources)) {
    for (const [kind, source] of Object.entries(kinds)) {
      if (SERVER_KINDS.has(kind) || exported.get(source)?.includes('default') !== false) continue
      throw new BuildFault(
        `${source} has no default export, and is the ${kind} of '${pattern}': write export default function ${nameOf(source)}() { … }.`,
        entryPlace(context, pattern, kind),
      )
    }
  }
}

/** A name for the component of a module: `HomePage` for `src/app/home-page.tsx`. */
function nameOf(source: string): string {
  const words =
    posix
      .basename(source)
      .split('.')[0]
      ?.split(/[^a-z\d]+/i) ?? []
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : 'Page'
}

const METHOD = /^[A-Z]+$/

/** For each member of the table that names a server module: the fault of its exports, if any. */
const FAULTS: Readonly<Record<string, (exported: readonly string[]) => string | undefined>> = {
  guard: (exported) =>
    exported.includes('guard') || exported.includes('default')
      ? undefined
      : 'exports no guard, so that everything below it would be refused: write export async function guard() { … }.',
  loader: (exported) =>
    ['loader', 'search', 'paths', 'visitor'].some((name) => exported.includes(name))
      ? undefined
      : 'exports no loader: write export async function loader() { … }, or a search schema alone.',
  layoutLoader: (exported) =>
    exported.includes('loader') || exported.includes('layoutVisitor')
      ? undefined
      : 'exports no loader: write export async function loader() { … }.',
  handler(exported) {
    const lower = exported.find(
      (name) => /^(?:get|post|put|patch|delete)$/i.test(name) && !exported.includes(name.toUpperCase()),
    )
    if (lower !== undefined) return `exports ${lower}: a method is written in capitals, ${lower.toUpperCase()}.`
    return exported.some((name) => METHOD.test(name))
      ? undefined
      : 'exports no method: write export function GET() { … }, or that of a different method.'
  },
}

/**
 * Checks that each server module of the table has the required exports. A misspelled guard would never run.
 * @param context the folders of project and application.
 * @param metafile of the server's bundle.
 * @throws {BuildFault} for the first faulty module.
 */
export function checkServerModules(
  { root, app }: { readonly root: string; readonly app: string },
  metafile: Metafile,
  sources: RouteSources,
): void {
  const exported = new Map(Object.values(metafile.outputs).map(({ entryPoint, exports }) => [entryPoint, exports]))
  for (const [pattern, kinds] of Object.entries(sources)) {
    for (const [kind, source] of Object.entries(kinds)) {
      const names = exported.get(source)
      const judge = FAULTS[kind]
      if (names === undefined || judge === undefined) continue
      const fault = starFault(root, metafile, source) ?? judge(names)
      if (fault === undefined) continue
      throw new BuildFault(`${source}, the ${kind} of '${pattern}', ${fault}`, entryPlace({ root, app }, pattern, kind))
    }
  }
}

const STAR = /^[ \t]*export[ \t]*\*[ \t]*from[ \t]*(['"])(.+?)\1/gm

/** `export *` from an external package adds no names: esbuild's chunk exports only the names that it knows. */
function starFault(root: string, { inputs }: Metafile, source: string): string | undefined {
  const packages = (inputs[source]?.imports ?? []).flatMap(({ path, external, original = path }) =>
    external === true || path.startsWith(`${REQUIRED_PACKAGE}:`) ? original : [],
  )
  if (packages.length === 0) return undefined
  const stars = [...readFileSync(join(root, source), 'utf8').matchAll(STAR)].map(([, , from = '']) => from)
  const lost = stars.find((from) => packages.includes(from))
  return (
    lost && `has export * from '${lost}', of which nothing would be exported: name it, export { … } from '${lost}'.`
  )
}
