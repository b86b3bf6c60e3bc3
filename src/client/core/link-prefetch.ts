import { eventAnchor, linkUrl } from './link-clicks.ts'

/** What becomes of the links of a page that are likely to be followed. */
export interface LinkPrefetchOptions {
  readonly document: Document
  readonly window: Window & Pick<typeof globalThis, 'IntersectionObserver' | 'MutationObserver'>
  /** A visitor points at a link, touches it, or has moved the focus to it. May be told several times. */
  intent(url: URL, anchor: HTMLAnchorElement): void
  /** A link that asks for it has come into view (`viewport`) or into the page (`render`). The URL has no fragment. */
  visible(url: URL, when: 'viewport' | 'render'): void
  /** The last such links to these URLs have left the view or the page, all at once. */
  hidden(urls: readonly URL[]): void
  /** Whether anything but intent counts; asked at every scan. */
  allowed(): boolean
}

/** Watches the links of a document. */
export interface LinkWatch {
  /** Looks for new and removed links at once; happens by itself, when the browser is idle, after changes of the page. */
  scan(): void
}

const REST_MS = 50 // a mouse on its way across a list of links points at none of them
const IDLE_LIMIT_MS = 500 // a page that is always busy still gets its links

const SCOPES = { viewport: '[data-prefetch=viewport]', render: '[data-prefetch=render]' } as const

/**
 * Watches links by one set of listeners and one observer of each kind, however many links there are. What a link asks for
 * is its own `data-prefetch`, or that of the nearest element around it: `intent` unless told, `viewport`, `render`, `none`.
 * Bound: one entry a link that asks for `viewport` or `render`, until a scan finds it gone.
 */
export function watchLinks(options: LinkPrefetchOptions): LinkWatch {
  const { document, window } = options
  const { origin } = window.location
  /** May ask for `viewport` or `render`: what a link asks for, and where it leads, is looked up once it counts. */
  const watched = new Set<Element>()
  /** Of the watched: in view. */
  const inView = new Set<HTMLAnchorElement>()
  /** What has been reported as visible, by URL. */
  let told = new Map<string, { readonly url: URL; readonly when: 'viewport' | 'render' }>()
  let pointed: HTMLAnchorElement | undefined
  let rest: number | undefined
  /** A scan will come by itself. */
  let isDue = false
  let observer: IntersectionObserver | undefined

  function noticeIntent(anchor = pointed): void {
    const url = anchor && modeOf(anchor) !== 'none' && linkUrl(anchor, { origin })
    if (url) options.intent(url, anchor)
  }

  function point(event: PointerEvent): void {
    const anchor = event.pointerType === 'mouse' ? eventAnchor(event) : undefined
    if (anchor === pointed) return
    pointed = anchor
    window.clearTimeout(rest)
    rest = anchor && window.setTimeout(noticeIntent, REST_MS)
  }

  /** Only once all links have been looked at: one may leave when another one to the same URL comes. */
  function report(): void {
    const former = told
    told = new Map()
    for (const anchor of linksIn('render')) count(anchor, 'render')
    for (const anchor of inView) count(anchor, 'viewport')
    // Together: were they given up one by one, each would make room for the next that nobody sees any more.
    const gone = [...former].flatMap(([href, { url }]) => (told.has(href) ? [] : url))
    if (gone.length > 0) options.hidden(gone)
    for (const [href, { url, when }] of told) if (!former.has(href)) options.visible(url, when)
  }

  function count(anchor: HTMLAnchorElement, when: 'viewport' | 'render'): void {
    const url = watched.has(anchor) && modeOf(anchor) === when && linkUrl(anchor, { origin })
    if (!url) return
    url.hash = ''
    if (!told.has(url.href)) told.set(url.href, { url, when })
  }

  function onIntersection(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const anchor = target as HTMLAnchorElement
      if (isIntersecting) inView.add(anchor)
      else inView.delete(anchor)
    }
    report()
  }

  function linksIn(when: 'viewport' | 'render'): NodeListOf<HTMLAnchorElement> {
    return document.querySelectorAll(`a[href]${SCOPES[when]},${SCOPES[when]} a[href]`)
  }

  /** A thousand links cost a look-up in a set each. */
  function scan(): void {
    isDue = false
    const found = new Set<HTMLAnchorElement>()
    if (options.allowed()) {
      for (const anchor of linksIn('render')) found.add(anchor)
      for (const anchor of linksIn('viewport')) found.add(anchor)
    }
    for (const anchor of watched) {
      if (found.has(anchor as HTMLAnchorElement)) continue
      watched.delete(anchor)
      inView.delete(anchor as HTMLAnchorElement)
      observer?.unobserve(anchor)
    }
    for (const anchor of found) {
      if (watched.has(anchor)) continue
      watched.add(anchor)
      ;(observer ??= new window.IntersectionObserver(onIntersection)).observe(anchor)
    }
    report()
  }

  function scanWhenIdle(): void {
    if (isDue) return
    isDue = true
    // Safari has no idle callbacks, though the library says so; there, the end of the task must do.
    if ('requestIdleCallback' in window) window.requestIdleCallback(scan, { timeout: IDLE_LIMIT_MS })
    else setTimeout(scan)
  }

  const listening = { passive: true, capture: true }
  const onEvent = (event: Event): void => noticeIntent(eventAnchor(event))
  document.addEventListener('pointerover', point, listening)
  for (const type of ['pointerdown', 'touchstart', 'focusin']) document.addEventListener(type, onEvent, listening)
  const mutations = new window.MutationObserver(scanWhenIdle)
  // Frameworks give an element another target as readily as another place.
  mutations.observe(document, { childList: true, subtree: true, attributeFilter: ['href', 'data-prefetch'] })
  scanWhenIdle()

  return { scan }
}

function modeOf(anchor: Element): string {
  return anchor.closest('[data-prefetch]')?.getAttribute('data-prefetch') ?? 'intent'
}

/** Whether a visitor asks for little traffic, or has a connection on which a guess is dear. */
export function savesData(navigator: Navigator): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean; effectiveType?: string } }
  return !!connection && (connection.saveData === true || connection.effectiveType?.endsWith('2g') === true)
}
