import type { HistoryStack } from './history-stack.ts'
import { announcePage, moveFocus } from '../page/page-focus.ts'
import type { RouteCode } from '../page/route-code.ts'
import type { RouteView } from '../../react/route-view.ts'
import type { PageEffects } from './router-parts.ts'
import { createScrollPositions, hashTarget } from '../page/scroll-positions.ts'
import { createSearchForms } from '../page/search-forms.ts'
import type { DraftKeeper } from '../page/drafts.ts'

/** What it is made of. */
interface PageEffectsParts {
  readonly window: Window
  readonly history: HistoryStack
  readonly storage: Storage | undefined
  readonly code: Pick<RouteCode, 'show'>
  /** Of typed input; made later. */
  drafts(): Pick<DraftKeeper, 'leaving' | 'arrived'>
  /** Called last after each navigation, even within the page. */
  arrived(view: RouteView): void
}

/** Starts with the scroll positions of the document's page. */
export function createPageEffects(parts: PageEffectsParts): PageEffects {
  const { window, history, code } = parts
  const { document } = window
  const positions = createScrollPositions(window, parts.storage, () => history.shown)
  const forms = createSearchForms(document)
  let focused: Element | null = null

  /** @param focus whether a late element gets it, unless it has been moved meanwhile. */
  function toHash(focus = true): void {
    const { activeElement, location } = document
    positions.toHash(location.hash, () => focus && moveFocus(document, activeElement))
  }

  // The browser does not wait for what is streamed; where it has restored the window, the visitor may have moved it since.
  const isRestored = history.restoresScroll && window.scrollY > 0
  if (!positions.restore(history.shown, isRestored ? 'containers' : 'all') && window.scrollY === 0) toHash()

  return {
    moved() {
      if (hashTarget(document, document.location.hash) === undefined) toHash()
    },
    leaving(caught) {
      parts.drafts().leaving(caught)
      positions.save(history.shown)
      focused = document.activeElement
      forms.leaving()
    },
    arrived(screen) {
      const { view, arrival } = screen
      const { chain, outcome } = view
      const shown = screen.fallback ?? outcome
      code.show({ chain, outcome: shown })
      if (arrival) {
        forms.arrived(arrival.kind === 'traverse')
        history.settle()
      }
      parts.drafts().arrived(shown?.kind ?? '', arrival?.kind === 'traverse')
      // The visitor may be typing beside the fallback; these elements have the focus only because the page has changed.
      if (arrival === undefined) return announcePage(document, document.querySelector('h1:focus,main:focus'))
      const isRestored = arrival.kind === 'traverse' && positions.restore(history.shown)
      const scrolls = !isRestored && arrival.scroll
      if (scrolls) positions.toTop()
      // The focused element may have been removed with the previous page: a retry button, the link to a next page.
      if (arrival.focus || focused?.isConnected === false) announcePage(document, focused)
      if (scrolls) toHash(arrival.focus)
      parts.arrived(view)
    },
  }
}
