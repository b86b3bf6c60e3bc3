import { isBlocked } from '../core/navigation/call-safely.ts'
import { localHref, withoutHash } from '../core/data/local-href.ts'
import { startRouteRequest } from '../core/data/route-request.ts'
import type { RouteStore } from '../core/data/route-store.ts'
import { unhidden } from '../core/page/form-members.ts'
import { RouteLoadError, urlIn } from '../react/router-errors.ts'
import type { Broadcast } from '../core/navigation/router-parts.ts'
import type { RouterCore } from '../core/navigation/router.ts'
import type { Router, UploadProgress, RouterListeners } from '../react/router-types.ts'
import type { CallHost, CallSource } from './call-action.ts'
import type { createPageRenewal } from './renew-page.ts'
import { suppressDoubleSubmits } from './suppress-double-submits.ts'
import type { SayTexts } from '../../shared/texts.ts'
import type { MadeCall, UnsentCall, UnsentCalls } from './unsent-calls.ts'

/** The part of calls in the router's own code: the rest is loaded for pages that have actions. */
export interface CallStarter {
  readonly call: Router['call']
  readonly uploads: Router['uploads']
  readonly unsent: ReadonlySet<string>
  /** Whether a call is in progress. */
  isRunning(): boolean
  /** Loads the rest in advance: without a network, nothing can be loaded. */
  preload(): void
}

/** Parts of the call starter. */
interface CallStarterParts extends Pick<
  CallHost,
  'window' | 'world' | 'known' | 'retry' | 'router' | 'online' | 'outdated' | 'leave' | 'keepDrafts'
> {
  readonly now: () => number
  readonly store: RouteStore
  readonly router: RouterCore
  readonly listeners: RouterListeners
  readonly tell: () => void
  readonly say: SayTexts
  readonly broadcast: Broadcast
}

export function createCallStarter(parts: CallStarterParts): CallStarter {
  const { window, router, store } = parts
  const uploads = new Map<string, UploadProgress>()
  const loadCalls = loadOnce(() => import('./call-action.ts').then((code) => code.createActionCalls(host)))
  const unsent = new Set<string>()
  const troubles = createTroubles({ ...parts, unsent }, isBusy)
  /** Calls in progress. */
  let running = 0

  const host: CallHost = {
    ...parts,
    ...troubles,
    unhidden,
    startRouteRequest,
    idsOf: store.idsOf,
    pageOf: (to) => withoutHash(localHref(to, window.location.origin) ?? to),
    unanswered: (href) => new RouteLoadError('route data', href),
    revalidate(targets, at) {
      store.revalidate(targets)
      parts.broadcast(targets, at)
    },
    follow(to, request) {
      const go = (): void => router.navigate(to)
      if (request) store.bring(request, go)
      else go()
    },
    sending(answer) {
      const { listeners } = parts
      listeners.sent = (listeners.sent ?? 0) + 1
      void answer.then(() => void (listeners.sent = (listeners.sent ?? 1) - 1))
    },
    progress(action, progress) {
      if (progress) uploads.set(action, progress)
      else uploads.delete(action)
      parts.tell()
    },
  }

  async function start(id: string, args: readonly unknown[], source: CallSource): Promise<unknown> {
    const calls = await loadCalls().catch((thrown: unknown) => {
      parts.keepDrafts()
      throw new RouteLoadError('script', urlIn(thrown) ?? 'call-action', { cause: thrown })
    })
    return calls(id, args, source)
  }

  function isBusy(): boolean {
    return running > 0 || isBlocked(parts.listeners.blockers, undefined) || router.navigation.state !== 'idle'
  }

  return {
    uploads,
    unsent,
    // One that could not be sent may wait for its visitor without end.
    isRunning: () => running > unsent.size,
    preload() {
      Promise.all([loadCalls(), troubles.load(), parts.say(router.screen.view.params)]).catch(() => undefined)
    },
    call(id, args, event = window.event) {
      const source = sourceOf(event)
      const { form } = source
      running += 1
      const result = start(id, args, source).finally(() => (running -= 1))
      const fields = args.at(-1)
      if (form && fields instanceof FormData) {
        suppressDoubleSubmits(form, fields, result, (isSame) => troubles.submitted(form, isSame))
      }
      return result
    },
  }
}

/** Code that only some calls need: it asks the visitor about unsent calls, and reloads the page of an older build. */
function createTroubles(parts: CallStarterParts & { readonly unsent: Set<string> }, isBusy: () => boolean) {
  const load = loadOnce(() => import('./call-troubles.ts'))
  let unsent: UnsentCalls | undefined
  let renew: ReturnType<typeof createPageRenewal> | undefined
  return {
    load,
    renew(isWaiting: boolean): void {
      load().then(
        (code) => {
          renew ??= code.createPageRenewal({
            ...parts,
            isBusy,
            renew: () => parts.leave(parts.router.screen.href, 'refresh'),
          })
          renew(isWaiting)
        },
        () => undefined, // the next navigation loads a document
      )
    },
    async unsent(made: MadeCall): Promise<UnsentCall> {
      const { createUnsentCalls } = await load()
      unsent ??= createUnsentCalls({ ...parts, unhidden, fetch: parts.world.fetch })
      return unsent.add(made, await parts.say(parts.router.screen.view.params))
    },
    submitted(form: HTMLFormElement, isSame: boolean): void {
      unsent?.submitted(form, isSame)
    },
  }
}

/**
 * Loads code once; after a failure the next call tries again. One promise for all callers: Chromium settles several
 * imports of a module in any order, but calls have an order.
 */
function loadOnce<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined
  return () =>
    (loading ??= load().catch((thrown: unknown) => {
      loading = undefined
      throw thrown
    }))
}

/** Form, button and text of an event that calls an action. React calls actions while the form's event is dispatched. */
function sourceOf(event: Event | undefined): CallSource {
  const form = event?.type === 'submit' ? (event.target as HTMLFormElement) : undefined
  const target = (form && (event as SubmitEvent).submitter) ?? event?.target
  const by = target instanceof Element ? target : undefined
  // Read now: a button may change its text while its call is in progress.
  const pressed = by && unhidden(by).closest('button,input,a,[role=button]')
  return { form, by, label: pressed?.ariaLabel ?? pressed?.textContent }
}
