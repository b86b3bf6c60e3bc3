import { guarded } from '../core/navigation/guarded.ts'
import type { KnownRoutes } from '../core/data/known-routes.ts'
import { localHref, withoutHash } from '../core/data/local-href.ts'
import type { Retry } from '../core/data/retry.ts'
import { startRouteRequest, type RouteRequestWorld } from '../core/data/route-request.ts'
import { dataIds, type RouteStore } from '../core/data/route-store.ts'
import { RouteLoadError, urlIn } from '../react/router-errors.ts'
import type { RouterCore } from '../core/navigation/router.ts'
import type { NavigationKind, Router, UploadProgress, RouterListeners } from '../react/router-types.ts'
import type { CallAction } from './call-action.ts'
import { suppressDoubleSubmits } from './suppress-double-submits.ts'
import type { UnsentTexts } from './unsent-bar.ts'
import type { UnsentCalls } from './unsent-calls.ts'

/** What of calls is in the router's own code: the rest is loaded for pages that have actions. */
export interface CallStarter {
  readonly call: Router['call']
  readonly uploads: Router['uploads']
  /** Loads the rest ahead: when the network has gone, nothing can be loaded. */
  preload(): void
  /** Whether calls are under way. */
  readonly isRunning: boolean
}

/** What it is made of. */
export interface CallStarterParts {
  readonly window: Window & typeof globalThis
  readonly world: RouteRequestWorld
  readonly known: KnownRoutes
  readonly store: RouteStore
  readonly retry: Retry
  readonly router: RouterCore
  readonly listeners: RouterListeners
  readonly texts: Partial<UnsentTexts> | undefined
  readonly outdated: () => boolean
  broadcast(targets: readonly string[]): void
  leave(href: string, kind: NavigationKind): void
  keepDrafts(): void
}

export function createCallStarter(parts: CallStarterParts): CallStarter {
  const { window, world, known, store, router, listeners, outdated, broadcast, leave, keepDrafts } = parts
  const uploads = new Map<string, UploadProgress>()
  let callCode: Promise<typeof import('./call-action.ts')> | undefined
  let troubleCode: Promise<typeof import('./call-troubles.ts')> | undefined
  let calls: CallAction | undefined
  let unsent: UnsentCalls | undefined
  let renew: ((isWaiting: boolean) => void) | undefined
  /** Calls under way. */
  let running = 0

  /** One promise for all who wait: Chromium settles several imports of a module in no order, and calls have one. */
  function loadCalls(): NonNullable<typeof callCode> {
    callCode ??= import('./call-action.ts').catch((thrown: unknown) => {
      callCode = undefined
      throw thrown
    })
    return callCode
  }

  function loadTroubles(): NonNullable<typeof troubleCode> {
    troubleCode ??= import('./call-troubles.ts').catch((thrown: unknown) => {
      troubleCode = undefined
      throw thrown
    })
    return troubleCode
  }

  async function callBy(
    id: string,
    args: readonly unknown[],
    form: HTMLFormElement | undefined,
    by: Element | undefined,
    label: string | null | undefined,
  ): Promise<unknown> {
    const { createActionCalls } = await loadCalls().catch((thrown: unknown) => {
      keepDrafts()
      throw new RouteLoadError('script', urlIn(thrown) ?? 'call-action', { cause: thrown })
    })
    calls ??= createActionCalls({
      world,
      known,
      startRouteRequest,
      dataIds,
      document: window.document,
      retry: parts.retry,
      pageOf: (to) => withoutHash(localHref(to, window.location.origin) ?? to),
      unanswered: (href) => new RouteLoadError('route data', href),
      screen: () => router.screen,
      leaving: () => router.leavingFor,
      show: router.show,
      refresh: router.refresh,
      forget: router.forget,
      catchUp: router.catchUp,
      online: () => window.navigator.onLine,
      outdated,
      renew: (isWaiting) =>
        void loadTroubles().then(
          ({ createPageRenewal }) => {
            renew ??= createPageRenewal({ window, isBusy, renew: () => leave(router.screen.href, 'refresh') })
            renew(isWaiting)
          },
          () => undefined, // the next navigation loads a document
        ),
      async unsent(made) {
        const { createUnsentCalls } = await loadTroubles()
        unsent ??= createUnsentCalls({ window, now: world.now, fetch: world.fetch, keepDrafts, texts: parts.texts })
        return unsent.add(made)
      },
      revalidate(targets) {
        store.revalidate(targets)
        broadcast(targets)
      },
      follow(to, request) {
        const go = (): void => router.navigate(to)
        if (request) store.bring(request, go)
        else go()
      },
      leave,
      keepDrafts,
      progress(action, progress) {
        if (progress === undefined) uploads.delete(action)
        else uploads.set(action, progress)
        for (const listener of listeners.changes) listener()
      },
    })
    return calls(id, args, form, by, label)
  }

  function isBusy(): boolean {
    const asks = [...listeners.blockers].some((blocker) => guarded(() => blocker({ href: undefined })))
    return running > 0 || asks || router.navigation.state !== 'idle'
  }

  return {
    uploads,
    get isRunning() {
      return running > 0
    },
    preload() {
      Promise.all([loadCalls(), loadTroubles()]).catch(() => undefined)
    },
    call(id, args, event = window.event) {
      // React calls actions while the form's event is under way.
      const form = event?.type === 'submit' ? (event.target as HTMLFormElement) : undefined
      const target = (form && (event as SubmitEvent).submitter) ?? event?.target
      const by = target instanceof Element ? target : undefined
      // Now: a button may say something else as long as its call is under way.
      const pressed = by?.closest('button,input,a,[role=button]')
      running += 1
      const result = callBy(id, args, form, by, pressed?.ariaLabel ?? pressed?.textContent).finally(
        () => (running -= 1),
      )
      const fields = args.at(-1)
      if (form && fields instanceof FormData) {
        suppressDoubleSubmits(form, fields, result, (isSame) => unsent?.submitted(form, isSame))
      }
      return result
    },
  }
}
