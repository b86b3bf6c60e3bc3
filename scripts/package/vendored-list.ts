/**
 * The packages whose code is in the archive. Scanners of an application's `node_modules` do not see them, so the archive
 * has a bill of materials, and release notes name each change.
 */

/** Path in `lib` of the bill of materials. */
export const VENDORED_BILL = 'vendor/sbom.json'

/**
 * A bill of materials in CycloneDX 1.5. Equal packages give equal text: no date, no random number.
 * @param version of the archive.
 * @param packages `name@version` of each.
 */
export function vendoredBill(version: string, packages: readonly string[]): string {
  const components = packages.map((ref) => {
    const { name, version: own } = partsOf(ref)
    const purl = `pkg:npm/${name.replace('@', '%40')}@${own}`
    return { 'bom-ref': ref, type: 'library', name, version: own, scope: 'required', purl }
  })
  const component = { 'bom-ref': `millrace@${version}`, type: 'library', name: 'millrace', version }
  const bill = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component }, components }
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

/** As in `docs/vendored.txt`: one a line. */
export function vendoredText(packages: readonly string[]): string {
  return `${packages.join('\n')}\n`
}

/**
 * Packages that differ from the last release and that the changelog does not name.
 * @param released `docs/vendored.txt`: those of the last release.
 * @param packages `name@version` of each that is vendored now.
 * @param changelog `CHANGELOG.md`; its first section counts.
 * @returns what the section has to name: `name version` of a new one, the name of a removed one.
 */
export function unnamedChanges(released: string, packages: readonly string[], changelog: string): readonly string[] {
  const former = new Set(released.split('\n').filter(Boolean))
  const names = new Set(packages.map((ref) => partsOf(ref).name))
  const fresh = packages.filter((ref) => !former.has(ref)).map((ref) => Object.values(partsOf(ref)).join(' '))
  const gone = [...former].map((ref) => partsOf(ref).name).filter((name) => !names.has(name))
  const section = changelog.split(/^## /m, 2)[1] ?? ''
  const words = new Set(
    section
      .replaceAll('`', '')
      .match(/[^\s,;:()]+/g)
      ?.map((word) => word.replace(/\.$/, '')),
  )
  return [...new Set([...fresh, ...gone])].filter((what) => !what.split(' ').every((word) => words.has(word)))
}

function partsOf(ref: string): { readonly name: string; readonly version: string } {
  const at = ref.lastIndexOf('@')
  return { name: ref.slice(0, at), version: ref.slice(at + 1) }
}
