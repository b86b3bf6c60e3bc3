import { whenIdle } from '../page/when-idle.ts'
import { eventAnchor, linkUrl, type LinkElement } from './link-clicks.ts'

/** Callbacks for links that the visitor is likely to follow. */
interface LinkPrefetchOptions {
  readonly document: Document
  readonly window: Window & Pick<typeof globalThis, 'IntersectionObserver' | 'MutationObserver'>
  /** A visitor points at a link, touches it, or has moved the focus to it. May be called several times. */
  intent(url: URL): void
  /** A visitor presses, touches or focuses anything, a link or not. */
  turned(event: Event): void
  /** A link with that setting has come into view (`viewport`) or into the page (`render`). The URL has no fragment. */
  visible(url: URL, when: 'viewport' | 'render'): void
  /** The last such links to these URLs have left the view or the page, reported together; often the list is empty. */
  hidden(urls: readonly URL[]): void
  /** Whether to report anything but intent; called at every scan. */
  allowed(): boolean
}

/** Watches the links of a document. */
interface LinkWatch {
  /**
   * Looks for new and removed links at once; otherwise this happens after changes of the page, when the browser is
   * idle.
   */
  scan(): void
}

type Links = NodeListOf<LinkElement> | readonly LinkElement[]

const REST_MS = 50 // a mouse that crosses a list of links points at none of them
const IDLE_LIMIT_MS = 500 // a page that is always busy still gets its links

/**
 * Watches links by one set of listeners and one observer of each kind, however many links there are. The setting of a
 * link is its own `data-prefetch`, or that of the nearest element around it: `intent` by default, `viewport`, `render`,
 * `none`. Bound: one entry per link with `viewport` or `render`, until a scan finds it removed.
 */
export function watchLinks(options: LinkPrefetchOptions): LinkWatch {
  const { document, window } = options
  /** Candidates for `viewport`: setting and target of a link are looked up when needed. */
  let watched: Links = []
  /** Candidates for `render`. */
  let rendered: Links = []
  /** Those of the watched that are in view. */
  const inView = new Set<LinkElement>()
  /** Reported as visible, by URL. */
  let told = new Map<string, { readonly url: URL; readonly when: 'viewport' | 'render' }>()
  /** A scan or report is scheduled. */
  let isDue = false
  /** The scheduled run is a scan: the page has changed, not only the view. */
  let isChanged = true

  /** Only after all links have been checked: one may leave when another one to the same URL arrives. */
  function report(): void {
    const former = told
    told = new Map()
    for (const anchor of rendered) count(anchor, 'render')
    for (const anchor of inView) count(anchor, 'viewport')
    // Together: given up one by one, each would make room for the next one, which is hidden too.
    options.hidden([...former].flatMap(([href, { url }]) => (told.has(href) ? [] : url)))
    for (const [href, { url, when }] of told) if (!former.has(href)) options.visible(url, when)
  }

  function count(anchor: LinkElement, when: 'viewport' | 'render'): void {
    const url = modeOf(anchor) === when && linkUrl(anchor, window.location)
    if (!url) return
    url.hash = ''
    if (!told.has(url.href)) told.set(url.href, { url, when })
  }

  function onIntersection(entries: readonly IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      // The first report of a thousand links that are out of view is not a change.
      if (!entry.isIntersecting && inView.size === 0) continue
      if (inView[entry.isIntersecting ? 'add' : 'delete'](entry.target as LinkElement)) lookWhenIdle()
    }
  }

  /** A missing scope is detected faster than missing links. */
  function linksThatAsk(mode: 'viewport' | 'render'): Links {
    const scope = `[data-prefetch=${mode}]`
    return options.allowed() && document.querySelector(scope)
      ? document.querySelectorAll(`a[href]${scope},${scope} a[href]`)
      : []
  }

  /** A thousand links cost one query, and one call each: observing a link again costs the browser nothing. */
  function scan(): void {
    isChanged = false
    const former = watched
    watched = linksThatAsk('viewport')
    rendered = linksThatAsk('render')
    if (former.length > 0) {
      const found = new Set(watched)
      for (const anchor of former) {
        if (found.has(anchor)) continue
        inView.delete(anchor)
        observer.unobserve(anchor)
      }
    }
    for (const anchor of watched) observer.observe(anchor)
    report()
  }

  function look(): void {
    isDue = false
    if (isChanged) scan()
    else report()
  }

  /** Prefetching takes time anyway, and is not worth a delayed frame. */
  function lookWhenIdle(): void {
    if (isDue) return
    isDue = true
    whenIdle(window, look, IDLE_LIMIT_MS)
  }

  const observer = new window.IntersectionObserver(onIntersection)
  const mutations = new window.MutationObserver((records) => {
    // The head contains no links, but prefetches change it.
    if (records.every(({ target }) => target === document.head)) return
    isChanged = true
    lookWhenIdle()
  })
  // Frameworks change the target of an element as often as its place.
  mutations.observe(document, { childList: true, subtree: true, attributeFilter: ['href', 'data-prefetch'] })
  watchIntent(options)
  lookWhenIdle()

  return { scan }
}

/** Watches the elements that a visitor points at, presses, touches or focuses. */
function watchIntent({ document, window, intent, turned }: LinkPrefetchOptions): void {
  let pointed: LinkElement | undefined
  let rest: number | undefined

  function notice(anchor = pointed): void {
    const url = anchor && modeOf(anchor) !== 'none' && linkUrl(anchor, window.location)
    if (url) intent(url)
  }

  const onPoint = (event: PointerEvent): void => {
    const anchor = event.pointerType === 'mouse' ? eventAnchor(event) : undefined
    if (anchor === pointed) return
    pointed = anchor
    window.clearTimeout(rest)
    rest = anchor && window.setTimeout(notice, REST_MS)
  }
  const onTurn = (event: Event): void => {
    notice(eventAnchor(event))
    turned(event)
  }
  const listening = { passive: true, capture: true }
  document.addEventListener('pointerover', onPoint, listening)
  for (const type of ['pointerdown', 'touchstart', 'focusin']) document.addEventListener(type, onTurn, listening)
}

function modeOf(anchor: Element): string {
  return anchor.closest('[data-prefetch]')?.getAttribute('data-prefetch') ?? 'intent'
}

/** Whether a visitor wants little traffic, or has a connection on which prefetching is expensive. */
export function savesData(navigator: Navigator): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean; effectiveType?: string } }
  return !!connection && (connection.saveData === true || connection.effectiveType?.endsWith('2g') === true)
}
