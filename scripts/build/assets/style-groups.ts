import type { Metafile } from 'esbuild'
import { CSS_FILE } from './css-files.ts'

/** Stylesheets that are always needed together, and so become one file. */
export interface StyleGroup {
  /** For people; two groups may have the same. */
  readonly name: string
  /** Paths in the project, in the order of the cascade. */
  readonly files: readonly string[]
}

/** The groups that the document and each route module need. */
export interface StyleGroups {
  readonly groups: readonly StyleGroup[]
  /** The document's own groups. */
  readonly entry: readonly StyleGroup[]
  /** By source of the route module, in the order in which they must apply. */
  readonly modules: ReadonlyMap<string, readonly StyleGroup[]>
}

/**
 * Splits an application's styles by their users, as code splitting does with scripts. Each stylesheet is in exactly one
 * group: a second, later copy would override rules that were written to follow it.
 * @param entry key of the browser's entry in the metafile.
 * @param routeModules keys of the modules that the table names.
 */
export function groupStyles(metafile: Metafile, entry: string, routeModules: readonly string[]): StyleGroups {
  const cuts = new Set(routeModules)
  const ofEntry = reachedStyles(metafile, entry, cuts)
  const users = new Map<string, string[]>()
  for (const module of routeModules) {
    for (const file of reachedStyles(metafile, module, cuts)) {
      if (!ofEntry.includes(file)) users.set(file, [...(users.get(file) ?? []), module])
    }
  }

  const byUsers = new Map<string, { files: string[]; users: readonly string[] }>()
  for (const [file, modules] of users) {
    const key = modules.join('\n')
    const group = byUsers.get(key) ?? { files: [], users: modules }
    group.files.push(file)
    byUsers.set(key, group)
  }
  // Styles with more users are more general, and precede.
  const shared = [...byUsers.values()]

    .toSorted((a, b) => b.users.length - a.users.length)
    .map(({ files, users }) => ({ users, group: { name: baseName(files[0] ?? ''), files } }))
  const document = ofEntry.length > 0 ? [{ name: 'document', files: ofEntry }] : []

  return {
    groups: [...document, ...shared.map(({ group }) => group)],
    entry: document,
    modules: new Map(
      routeModules.map((module) => [
        module,
        shared.filter(({ users }) => users.includes(module)).map(({ group }) => group),
      ]),
    ),
  }
}

/**
 * The stylesheets of one module, each after those that it depends on.
 * @param cuts where to stop: the table loads these modules, with their own styles. Any other dynamic import counts as a
 * static one, because nothing would load its styles later.
 */
function reachedStyles(metafile: Metafile, from: string, cuts: ReadonlySet<string>): readonly string[] {
  const seen = new Set<string>()
  const styles: string[] = []

  function visit(key: string): void {
    if (seen.has(key)) return
    seen.add(key)
    for (const { path, kind, external } of metafile.inputs[key]?.imports ?? []) {
      if (!external && !(kind === 'dynamic-import' && cuts.has(path))) visit(path)
    }
    if (key.startsWith(`${CSS_FILE}:`)) styles.push(key.slice(CSS_FILE.length + 1))
  }

  visit(from)
  return styles
}

function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/(?:\.module)?\.\w+$/, '')
}
