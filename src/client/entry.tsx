import { startTransition, useDeferredValue, type ComponentType, type ReactNode } from 'react'
import { hydrateRoot, type ReactFormState, type Root } from 'react-dom/client'
import { withBasePath, withoutBasePath } from '../shared/base-path.ts'
import { controlFlowOf } from '../shared/control-flow.ts'
import type { BrowserTextsOf, SayTexts } from '../shared/texts.ts'
import { connectActions } from './actions/action-reference.ts'
import { chainOf } from '../shared/route-chain.ts'
import type { RouteDefinitions } from '../shared/route-definition.ts'
import { withoutAction } from '../shared/protocol/action-search.ts'
import { readHydrationData } from './core/data/read-hydration-data.ts'
import type { DocumentProps } from './module-types.ts'
import { ClientRoot } from './react/client-root.tsx'
import { instanceKey } from './react/instance-key.ts'
import { createModuleCache } from './react/module-cache.ts'
import { routeTree } from './react/route-tree.tsx'
import { viewMetadata, viewModules, type Outcome, type RouteView } from './react/route-view.ts'
import { pageReports, type FailureKind } from './reports/page-reports.ts'
import { offerReload } from './offer-reload.ts'
import { createLazyRouter } from './lazy-router.ts'
import type { Screen } from './react/router-types.ts'

/** Options that an application's `client.tsx` passes. */
export interface HydrateOptions {
  /** The same table as on the server. */
  readonly routes: RouteDefinitions
  /** The same document component that the server renders. */
  readonly document: ComponentType<DocumentProps>
  /**
   * Millrace's own texts in the language of a page: forms that were not sent, files that did not load. Called when the
   * page starts and when such a text may be needed; a language may be loaded on demand. Texts that it does not return are in English.
   */
  readonly texts?: BrowserTextsOf | undefined
}

/**
 * Hydrates the document that the server sent. It may start while parts of the document are still streaming: React waits
 * for each of them. Then the client router is loaded, and handles links from there on.
 */
export async function hydrate({ routes, document: Document, texts }: HydrateOptions): Promise<void> {
  const hydrationData = readHydrationData(document)
  if (hydrationData === undefined) return
  const { state } = hydrationData
  const { route, params, origin, outcome } = state
  const { pathname, search, hash } = location
  // The URL to which a form was sent before this script loaded: with it, a call would name two actions, and a reload
  // would send the form again.
  const asked = withoutAction(search)
  const href = pathname + asked + hash
  if (asked !== search) history.replaceState(history.state, '', href)
  const modules = createModuleCache()
  const shape = { chain: chainOf(routes, route ?? '/'), outcome: outcome as Outcome | undefined }
  const say: SayTexts = (of) =>
    Promise.resolve({ params: of, pathname: withoutBasePath(location.pathname) })
      .then(texts as () => undefined)
      .catch(() => undefined)
  // While files load: the words for those that do not.
  const words = say(params)
  const load = async () => modules.load(viewModules(shape))
  // Without them the page would not respond, and nothing on it would say so.
  const [values] = await Promise.all([hydrationData.values, load().catch(load)]).catch((reason: unknown) => {
    void offerReload(window, words)
    throw reason
  })
  const { posted, search: parsed, data, late } = values
  const view: RouteView = { ...shape, params, search: parsed, data, origin }
  const first: Screen = { href: withoutBasePath(href), view, visit: 0 }

  const router = createLazyRouter(
    window,
    first,
    async (listeners) => {
      const { startRouter } = await import('./start-router.ts')
      const render = (screen: Screen): void => root?.render(treeOf(screen))
      return startRouter({ window, routes, modules, state, first, late, listeners, say, render })
    },
    words,
  )

  const retry = (): void => router.refresh()
  connectActions(router)
  const reports = pageReports()
  if (reports) {
    reports.router = router
    reports.left ??= (signal) => void (reports.early = signal)
  }

  function treeOf(screen: Screen): ReactNode {
    const { view: shown, visit, fallback } = screen
    const metadata = viewMetadata({ ...shown, outcome: fallback ?? shown.outcome }, modules)
    const client = {
      visit,
      // Search params do not change the key: a form that sets them must not lose its focus.
      keyOf: (id: string) => instanceKey(id, shown.params),
      retry,
    }
    return (
      <Deferred>
        <ClientRoot router={router} screen={screen}>
          {routeTree({ document: Document, view: shown, modules, metadata, client })}
        </ClientRoot>
      </Deferred>
    )
  }

  let root: Root | undefined
  startTransition(() => {
    root = hydrateRoot(document, treeOf(first), {
      ...state.react,
      formState: (posted ?? null) as ReactFormState | null,
      onCaughtError: told('caught', console.error),
      onUncaughtError(...failure) {
        told('uncaught', reportError)(...failure)
        // React has taken everything away. The document of a page may work where its commit has failed.
        const { pending, screen } = router
        const { href: to } = new URL(withBasePath((pending ?? screen).href), location.href)
        if (pending ?? screen.visit) location[to === location.href ? 'reload' : 'assign'](to)
      },
      onRecoverableError: told('recoverable', reportError),
    })
  })
}

/** Renders an urgent update as a transition, but one that does not wait for pending actions. */
function Deferred({ children }: { readonly children: ReactNode }): ReactNode {
  return useDeferredValue(children)
}

/** Control flow uses React's error channel, but must not appear on the console or in reports. */
function told(kind: FailureKind, show: (thrown: unknown) => void) {
  return (thrown: unknown, info: { readonly componentStack?: string | null | undefined }): void => {
    const signal = controlFlowOf(thrown)
    if (signal) pageReports()?.left?.(signal)
    else {
      // Report it first: an uncaught error returns as an event of the window, and counts as the same failure then.
      pageReports()?.add({ thrown, kind, stack: info.componentStack })
      show(thrown)
    }
  }
}
