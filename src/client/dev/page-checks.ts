import type { InspectedRouter, RouterInsight } from '../inspect/router-insight.ts'
import type { DevFrame, DevWarning, DevWarningKind } from './dev-messages.ts'
import { explain } from './dev-requests.ts'
import type { Notices } from './notices.ts'

/** Checks the page on screen for a title and for the sizes of its images, after each navigation. */
interface PageChecks {
  /** Called after hydration, with the page's router. */
  found(insight: RouterInsight, router: Pick<InspectedRouter, 'subscribe'>): void
  check(): void
}

const QUIET_MS = 400 // after the last change; titles and images may stream in
const MOST_IMAGES = 10 // a gallery repeats one mistake

/** Members of a React fiber that say where its element was created. Source: React 19, development only. */
interface DebugFiber {
  readonly _debugStack?: { readonly stack?: string } | null
}

/** @param notices shows the warnings. */
export function checkPage(window: Window, notices: Notices): PageChecks {
  const { document } = window
  const state: { timer?: number; insight?: RouterInsight; href?: string; turn: number } = { turn: 0 }
  /** By what a warning is about: the page is checked often, and the server explains each warning once. */
  const explained = new Map<string, Promise<DevWarning>>()

  function warning(kind: DevWarningKind, message: string, stack: string): Promise<DevWarning> {
    const route = state.insight?.router.screen.view.chain.at(-1)?.key
    const key = JSON.stringify([kind, message, stack, route])
    const known = explained.get(key)
    if (known !== undefined) return known
    const made = explain({ message, stack, warning: kind, ...(route === undefined ? {} : { route }) }).then(
      ({ frames }) => withFrame({ kind, message }, frames),
      () => ({ kind, message }),
    )
    explained.set(key, made)
    return made
  }

  async function run(): Promise<void> {
    // The page that replaces a failed document belongs to the development server.
    if (document.documentElement.hasAttribute('data-millrace-failed')) return
    const turn = ++state.turn
    const found = await Promise.all([
      ...(document.title.trim() === '' && !showsError()
        ? [warning('title', NO_TITLE(window.location.pathname), '')]
        : []),
      ...[...document.images]
        .filter(lacksSize)
        .slice(0, MOST_IMAGES)
        .map((image) => warning('image', NO_SIZE(image), stackOf(image))),
    ])
    if (turn === state.turn) notices.set('page', found)
  }

  /** An error page says what has failed; do not warn about its title. */
  function showsError(): boolean {
    const [document] = performance.getEntriesByType('navigation')
    const status = document instanceof PerformanceNavigationTiming ? document.responseStatus : 200
    const { screen } = state.insight?.router ?? {}
    if (screen === undefined) return status >= 500
    return screen.page.failure !== undefined || screen.view.outcome?.kind === 'error'
  }

  function check(): void {
    window.clearTimeout(state.timer)
    state.timer = window.setTimeout(() => void run(), QUIET_MS)
  }

  if (document.readyState === 'complete') check()
  else window.addEventListener('load', check)
  return {
    check,
    found(insight, router) {
      state.insight = insight
      const look = (): void => {
        const { href } = insight.router.screen
        if (href === state.href) return
        state.href = href
        check()
      }
      // A page without data changes nothing of what is known.
      insight.subscribe(look)
      router.subscribe(look)
      check()
    },
  }
}

function withFrame(warning: DevWarning, frames: readonly DevFrame[]): DevWarning {
  const frame = frames.find(({ own }) => own)
  return frame === undefined ? warning : { ...warning, frame }
}

const NO_TITLE = (pathname: string): string =>
  `${pathname} has no <title>, by which tabs, bookmarks and screen readers name it. Export metadata with a title from its ` +
  'page or from a layout around it.'

const NO_SIZE = ({ src }: HTMLImageElement): string =>
  `${shortened(src)} has no size before it has loaded, and moves what is below it. Give the <img> width and height, or a ` +
  'size or aspect-ratio in a stylesheet.'

function shortened(url: string): string {
  const { protocol, pathname } = new URL(url)
  const text = protocol === 'data:' || protocol === 'blob:' ? `${protocol}…` : pathname
  return text.slice(0, 200)
}

/** Whether the browser cannot tell an image's size before it has its first bytes. */
function lacksSize(image: HTMLImageElement): boolean {
  if (image.currentSrc === '' && image.getAttribute('src') === null) return false
  if (image.hasAttribute('width') && image.hasAttribute('height')) return false
  const { display, position, aspectRatio } = getComputedStyle(image)
  if (display === 'none' || position === 'absolute' || position === 'fixed' || aspectRatio !== 'auto') return false
  // What the stylesheets say; the computed style has the size on screen instead. Missing in Firefox.
  const styles = 'computedStyleMap' in image ? image.computedStyleMap() : undefined
  return styles === undefined || ['width', 'height'].some((name) => String(styles.get(name)) === 'auto')
}

/** Where the element was created, if React has made it. */
function stackOf(element: Element): string {
  const [, fiber] = Object.entries(element).find(([key]) => key.startsWith('__reactFiber$')) ?? []
  const { _debugStack: debugStack } = (fiber ?? {}) as DebugFiber
  return debugStack?.stack ?? ''
}
