import type { HistoryStack } from './history-stack.ts'
import { announcePage } from '../page/page-focus.ts'
import type { RouteCode } from '../page/route-code.ts'
import type { RouterScreen } from './router-parts.ts'
import type { ScrollPositions } from '../page/scroll-positions.ts'
import { createSearchForms } from '../page/search-forms.ts'

/** What happens around React when a page comes or goes: styles, scroll, focus. */
export interface PageEffects {
  /** The former page is still in the document, or the page on screen is about to be scrolled elsewhere. */
  leaving(): void
  /** The new one is, or a fallback in its place. */
  arrived(screen: RouterScreen): void
  /** The page that the document brought is alive. */
  hydrated(): void
}

/** What it is made of. */
export interface PageEffectsParts {
  readonly document: Document
  readonly history: HistoryStack
  readonly positions: ScrollPositions
  readonly code: Pick<RouteCode, 'show'>
}

export function createPageEffects(parts: PageEffectsParts): PageEffects {
  const { document, history, positions, code } = parts
  const forms = createSearchForms(document)
  let focused: Element | null = null

  return {
    leaving() {
      positions.save(history.shown)
      focused = document.activeElement
      forms.leaving()
    },
    arrived({ href, view: { chain, outcome }, fallback = outcome, arrival }) {
      code.show({ chain, outcome: fallback })
      // Beside the fallback somebody may be typing; these have the focus only because the page has come.
      if (arrival === undefined) return announcePage(document, document.querySelector('h1:focus,main:focus'))
      forms.arrived(arrival.kind === 'traverse')
      history.settle()
      const { hash } = new URL(href, document.baseURI)
      const restored = arrival.kind === 'traverse' && positions.restore(history.shown)
      if (!restored && arrival.scroll && !(hash !== '' && positions.toHash(hash))) positions.toTop()
      // What had the focus may have gone with the former page: a button to try again, the link to a next page.
      if (arrival.focus || focused?.isConnected === false) announcePage(document, focused)
    },
    hydrated() {
      positions.restore(history.shown, history.restoresScroll ? 'containers' : 'all')
    },
  }
}
