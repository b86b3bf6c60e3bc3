/** Prefix of the URLs that belong to the runtime: assets, route data, reports. */
export const RUNTIME_PREFIX = '/_m/'

/** Further paths that the server answers by itself, before any rule or route: whether it lives, and wants visitors. */
export const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz']

/** Whether the server answers this path by itself: no page can be there, and no rule leads away from it. */
export function isRuntimePath(pathname: string): boolean {
  return /^\/(?:_m(?:\/|$)|(?:healthz|readyz)$)/.test(pathname)
}
