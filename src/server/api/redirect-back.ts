import { isUnderBasePath, withoutBasePath } from '../../shared/base-path.ts'
import { redirect } from '../../shared/control-flow.ts'
import { MAX_TARGET_BYTES } from '../../shared/limits.ts'
import type { RedirectTarget } from '../../shared/link-target.ts'
import { withoutAction } from '../../shared/protocol/action-search.ts'
import { isRuntimePath } from '../../shared/runtime-paths.ts'
import { safeLocation } from '../../shared/safe-location.ts'

/** The part of a `Request` that says where it is from. */
export interface ReferredRequest {
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/**
 * Redirects by 303 to the page that sent the request, by its `Referer`: the page with the form, in a resource route and in
 * an action. Only a page of this site counts, regardless of the header.
 * @param request of a loader, a resource route or an action.
 * @param otherwise where to go if the request names no such page: browsers may leave the header out.
 * @throws {RedirectSignal} always.
 */
export function redirectBack<To extends string>(request: ReferredRequest, otherwise: RedirectTarget<To>): never {
  const to = refererPath(request) ?? otherwise
  return redirect(to as never, 303)
}

/** The path and query of the page that a request is from; `undefined` unless it is a page of this site. */
function refererPath({ url, headers }: ReferredRequest): string | undefined {
  const referer = headers.get('referer') ?? ''
  if (referer.length > MAX_TARGET_BYTES || !URL.canParse(referer)) return undefined
  const { protocol, host, pathname, search } = new URL(referer)
  // A proxy in front may speak TLS; the redirect is a path of this site in any case.
  if (!/^https?:$/.test(protocol) || host !== new URL(url).host || !isUnderBasePath(pathname)) return undefined
  const path = withoutBasePath(pathname)
  return isRuntimePath(path) ? undefined : safeLocation(path + withoutAction(search))
}
