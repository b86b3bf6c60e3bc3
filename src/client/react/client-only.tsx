import { Suspense, useSyncExternalStore, type ReactNode } from 'react'

/** Props of `ClientOnly`. */
export interface ClientOnlyProps {
  /** Shown on the server, during hydration, and while the children suspend. Default: nothing. */
  readonly fallback?: ReactNode
  /** Renders what only a browser can. The server never calls it. */
  readonly children: () => ReactNode
}

/**
 * Renders its children in browsers only, for components that need `window` while they render. The server and the
 * hydration of its document render the fallback, so the markup of both is equal; the children follow in the same task.
 * A page that the client router shows has them at once.
 * @example
 * ```tsx
 * import { ClientOnly } from 'millrace'
 *
 * export const zone = (
 *   <ClientOnly fallback="UTC">{() => Intl.DateTimeFormat().resolvedOptions().timeZone}</ClientOnly>
 * )
 * ```
 */
export function ClientOnly({ fallback = null, children }: ClientOnlyProps): ReactNode {
  const isHydrated = useSyncExternalStore(neverChanges, inBrowser, onServer)
  if (!isHydrated) return fallback
  // A boundary of its own: children that load their code would otherwise hide what is around them.
  return (
    <Suspense fallback={fallback}>
      <Children render={children} />
    </Suspense>
  )
}

/** A component, so that hooks and `use()` in the function belong to it. */
function Children({ render }: { readonly render: () => ReactNode }): ReactNode {
  return render()
}

const neverChanges = () => () => undefined
const inBrowser = () => true
const onServer = () => false
