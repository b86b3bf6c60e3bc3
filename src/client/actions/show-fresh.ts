import { ACTION_RESULT_ID } from '../../shared/protocol/action-call.ts'
import type { KnownRoutes } from '../core/data/known-routes.ts'
import type { RouteRequest } from '../core/data/route-request.ts'
import type { RouterCore } from '../core/navigation/router.ts'
import type { RouteView } from '../react/route-view.ts'

/** Puts fresh data into the page on screen. A deferred value replaces its predecessor when it arrives. */
export function showFresh(
  { known, router }: { readonly known: KnownRoutes; readonly router: Pick<RouterCore, 'screen' | 'refresh' | 'show'> },
  request: RouteRequest,
): void {
  const { view, page, fallback } = router.screen
  const { head, outcome, segments, href, params } = request
  // A refusal may be over now: signing in on the page of a 401.
  if (outcome ?? view.outcome ?? fallback ?? head?.route !== view.chain.at(-1)?.key) return router.refresh()
  const data: Record<string, unknown> = { ...view.data }
  const keys = new Set(page.keys)
  let { search } = view
  let shown: RouteView | undefined
  const show = (): void =>
    void (shown = router.show({ ...view, data: { ...data }, search }, { keys: [...keys], at: head?.at }, shown))
  for (const [id, { values }] of segments) {
    if (id === ACTION_RESULT_ID) continue
    keys.add(known.keyOf(id, href, params))
    data[id] = values.data
    search = values.search ?? search
    for (const [name, value] of Object.entries(membersOf(values.data))) {
      const former = membersOf(view.data[id])[name]
      if (!(value instanceof Promise && former instanceof Promise)) continue
      const put = (promise: unknown): void => void (data[id] = { ...membersOf(data[id]), [name]: promise })
      const arrive = (): void => {
        put(value)
        show()
      }
      // React would show the fallback again, or hold back the action's result.
      put(former)
      value.then(arrive, arrive)
    }
  }
  show()
}

/** Only members of plain objects are deferred. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return Array.isArray(value) ? {} : Object(value)
}
