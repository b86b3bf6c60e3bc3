/**
 * The software bill of materials of the image, in CycloneDX 1.5: npm's description of the packages that are in the
 * image, as folders or in the bundles, and everything else in the image. Equal contents give equal text: no date, no
 * random number.
 */
import type { InstalledPackage } from './package-closure.ts'
import type { SystemFile } from './system-files.ts'

/** The parts of a component that we read. */
interface Component {
  readonly 'bom-ref': string
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly [more: string]: unknown
}

/** As `npm sbom --sbom-format=cyclonedx` prints it. */
export interface BillOfMaterials {
  readonly metadata: { readonly component: Component; readonly [more: string]: unknown }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
  readonly [more: string]: unknown
}

/** Content of the image. */
interface ImageParts {
  /** Packages in its `node_modules`. */
  readonly packages: readonly InstalledPackage[]
  /** Packages whose code is in the bundles. */
  readonly bundled: readonly InstalledPackage[]
  readonly system: readonly SystemFile[]
  readonly nodeVersion: string
}

/** A package in the image that npm's list lacks. */
export class UnlistedPackageError extends Error {
  override readonly name = 'UnlistedPackageError'
}

/** @throws {UnlistedPackageError} if npm's list lacks a package that the image has. */
export function billOfMaterials(fromNpm: BillOfMaterials, parts: ImageParts): BillOfMaterials {
  const { packages, bundled, system, nodeVersion } = parts
  const kept = new Set([...packages, ...bundled].map(({ name, version }) => `${name}@${version}`))
  const listed = fromNpm.components.filter((component) => kept.has(component['bom-ref'])).map(asShipped)
  const unlisted = [...kept].filter((ref) => !listed.some((component) => component['bom-ref'] === ref))
  if (unlisted.length > 0) throw new UnlistedPackageError(`not in the list of npm: ${unlisted.join(', ')}`)

  const components = [...listed, ...systemComponents(system, nodeVersion)]
  const root = fromNpm.metadata.component
  const refs = new Set([root['bom-ref'], ...components.map((component) => component['bom-ref'])])
  const { timestamp: _, ...metadata } = fromNpm.metadata
  const { serialNumber: __, ...document } = fromNpm
  return {
    ...document,
    metadata: { ...metadata, component: { ...root, type: 'application', name: 'millrace' } },
    components,
    dependencies: fromNpm.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  }
}

/** Development dependencies in a bundle run in production: with npm's mark, scanners would skip them. */
function asShipped(component: Component): Component {
  const { properties: _properties, ...rest } = component
  return { ...rest, scope: 'required' }
}

function systemComponents(system: readonly SystemFile[], nodeVersion: string): Component[] {
  const node = { type: 'application', name: 'node', version: nodeVersion, purl: `pkg:generic/node@${nodeVersion}` }
  const owners = new Map(system.flatMap(({ owner }) => (owner === undefined ? [] : [[owner.name, owner] as const])))
  const debian = [...owners.values()].map(({ name, version }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}`,
  }))
  return [node, ...debian]
    .map((component) => ({ 'bom-ref': component.purl, ...component }))
    .toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
}
