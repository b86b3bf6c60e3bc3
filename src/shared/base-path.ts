/**
 * The base path: where an application is mounted on its host, `/shop`; `''` at the root. The build writes it into both
 * bundles, so that a build without one has no code for it.
 *
 * Inside of the application every path is the table's: `/about`. Base paths are added where a URL leaves it (HTML,
 * `Location`, requests of the browser) and taken off where one comes in.
 */

declare global {
  /** A constant that the build fills in; absent if nothing was built. */
  var MILLRACE_BASE_PATH: string | undefined
}

/** The base path that the code was built for. */
export function basePath(): string {
  return globalThis.MILLRACE_BASE_PATH || ''
}

/**
 * The public form of a path of the table: `/shop/about` for `/about`. Anything that does not begin with one slash is
 * returned unchanged (URLs with a scheme, `//host`, `?query`, `#hash`), and so is the URL of an imported file.
 */
export function withBasePath(path: string): string {
  if (!globalThis.MILLRACE_BASE_PATH) return path
  // A browser reads a backslash as a slash: two of them name a host.
  if (!/^\/(?![/\\])/.test(path)) return path
  // The URL of an imported file: the build has written it with its base path.
  if (path.startsWith(`${basePath()}/_m/`)) return path
  return basePath() + (/^\/(?:[?#]|$)/.test(path) ? path.slice(1) : path)
}

/**
 * The table's path of a public one, with its query and hash; a path outside of the base path as it is. It never begins with
 * two slashes: the rest of `/shop//evil.test` would be a URL of another site.
 */
export function withoutBasePath(path: string): string {
  if (!globalThis.MILLRACE_BASE_PATH) return path
  if (!isUnderBasePath(path)) return path
  return path.slice(basePath().length).replace(/^[\\/]*/, '/')
}

/** As `withoutBasePath`; a path outside of the base path becomes one of the runtime's, which are not pages either. */
export function pagePath(path: string): string {
  if (!globalThis.MILLRACE_BASE_PATH) return path
  return isUnderBasePath(path) ? withoutBasePath(path) : '/_m/'
}

/** Whether a public path belongs to the application. The comparison is exact: `/SHOP` and `/%73hop` are not `/shop`. */
export function isUnderBasePath(path: string): boolean {
  const base = basePath()
  return path.startsWith(base) && (base === '' || /^(?:[/?#]|$)/.test(path.slice(base.length)))
}
