import {
  RUN_TIME_PACKAGES,
  OPTIONAL_PACKAGES,
  OPTIONAL_TYPES,
  PEERS,
  TEMPLATE_PACKAGES,
  TOOLS,
  WIDER_RANGES,
} from './package-parts.ts'

/** The parts of the project's package.json from which the package is made. */
export interface ProjectManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: { readonly node: string }
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/**
 * The condition by which the project resolves its own sources. In the published package, bundlers would find no such
 * files.
 */
const SOURCE_CONDITION = 'millrace-source'

/**
 * The package.json of the archive: without the condition for sources, without development dependencies, and with the
 * application's own packages as peers. Commands load the tools from the application's project, but the tools are not
 * peers, because npm would install an optional peer for production too.
 */
export function packageManifest(project: ProjectManifest): Record<string, unknown> {
  const versions = { ...project.devDependencies, ...project.dependencies }
  const ranges = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, rangeOf(name, versions)]))
  const optional: readonly string[] = OPTIONAL_PACKAGES
  const types = OPTIONAL_TYPES.map((name) => `@types/${name}`)
  const { name, version, description, license, engines, bin } = project
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin,
    files: ['bin', 'docs', 'lib', 'templates', 'types.d.ts', 'CHANGELOG.md', 'SECURITY.md'],
    sideEffects: false,
    exports: Object.fromEntries(Object.entries(project.exports).map(([path, target]) => [path, published(target)])),
    dependencies: ranges(RUN_TIME_PACKAGES.filter((one) => !optional.includes(one))),
    peerDependencies: ranges([...PEERS, ...optional, ...types]),
    peerDependenciesMeta: Object.fromEntries([...optional, ...types].map((one) => [one, { optional: true }])),
    millrace: { tools: ranges(TOOLS), versions: pick(TEMPLATE_PACKAGES, versions) },
  }
}

function published(target: string | Readonly<Record<string, string>>) {
  if (typeof target === 'string') return target
  return Object.fromEntries(Object.entries(target).filter(([condition]) => condition !== SOURCE_CONDITION))
}

function pick(
  names: readonly string[],
  versions: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, versions[name]]))
}

/** The range of versions that is compatible with the tested one. */
function rangeOf(name: string, versions: Readonly<Record<string, string>>): string {
  const version = versions[name]
  if (version === undefined) throw new Error(`package.json does not list ${name}.`)
  return WIDER_RANGES[name] ?? `^${version}`
}
