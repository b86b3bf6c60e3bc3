const PACKAGE = /(?:^|\/)node_modules\//

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly (string | null)[]
}

/**
 * Leaves the texts of packages out of a map: their versions are in the lock file, and half of a build's output was copies of them.
 * The project's own texts stay, and every position, so that stacks name each file and line as before.
 */
export function withoutPackageTexts(map: Uint8Array): Uint8Array {
  const parsed = JSON.parse(new TextDecoder().decode(map)) as SourceMap
  const sourcesContent = parsed.sourcesContent?.map((text, at) =>
    PACKAGE.test(parsed.sources[at] ?? '') ? null : text,
  )
  return new TextEncoder().encode(JSON.stringify({ ...parsed, sourcesContent }))
}
