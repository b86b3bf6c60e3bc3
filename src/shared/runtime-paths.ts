/** Prefix of the runtime's own URLs: assets, route data, reports. */
export const RUNTIME_PREFIX = '/_m/'

/** Further paths that the server answers itself, before any rule or route: liveness and readiness. */
export const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz']

/** Whether the server answers this path itself: it cannot be a page, and no rule applies to it. */
export function isRuntimePath(pathname: string): boolean {
  return /^\/(?:_m(?:\/|$)|(?:healthz|readyz)$)/.test(pathname)
}
