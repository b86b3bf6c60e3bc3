import type { HistoryStack, StackEntry } from './history-stack.ts'
import type { Stylesheets } from './load-styles.ts'
import { announcePage } from './page-focus.ts'
import type { RouterScreen } from './router.ts'
import type { ScrollPositions } from './scroll-positions.ts'
import type { SegmentFiles } from './segment-files.ts'

/** What happens around React when a page comes or goes: styles, scroll, focus. */
export interface PageEffects {
  /** The former page is still in the document. */
  leaving(): void
  /** The new one is. */
  arrived(screen: RouterScreen): void
  /** The page that the document brought is alive. */
  hydrated(screen: RouterScreen): void
}

/** What it is made of. */
export interface PageEffectsParts {
  readonly document: Document
  readonly history: HistoryStack
  readonly positions: ScrollPositions
  readonly styles: Stylesheets
  /** The list of files, once it is here. */
  readonly files: () => SegmentFiles | undefined
}

export function createPageEffects({ document, history, positions, styles, files }: PageEffectsParts): PageEffects {
  const state: { entry: StackEntry; focused: Element | null } = { entry: history.current, focused: null }

  return {
    leaving() {
      positions.save(state.entry.key)
      state.focused = document.activeElement
    },
    arrived({ href, page, arrival }) {
      const listed = files()
      styles.show(page.styles, (path) => listed?.names(path) ?? false)
      state.entry = history.current
      if (arrival === undefined) return
      const { hash } = new URL(href, document.baseURI)
      const restored = arrival.kind === 'traverse' && positions.restore(state.entry.key)
      if (!restored && arrival.scroll && !(hash !== '' && positions.toHash(hash))) positions.toTop()
      if (arrival.focus) announcePage(document, state.focused)
    },
    hydrated() {
      positions.restore(state.entry.key, 'containers')
    },
  }
}
