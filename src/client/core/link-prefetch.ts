import { eventAnchor, linkUrl } from './link-clicks.ts'

/** What becomes of the links of a page that are likely to be followed. */
export interface LinkPrefetchOptions {
  readonly document: Document
  readonly window: Window & Pick<typeof globalThis, 'IntersectionObserver' | 'MutationObserver'>
  /** A visitor points at a link, touches it, or has moved the focus to it. May be told several times. */
  intent(url: URL, anchor: HTMLAnchorElement): void
  /** A link that asks for it has come into view (`viewport`) or into the page (`render`). The URL has no fragment. */
  visible(url: URL, when: 'viewport' | 'render'): void
  /** The last such link to this URL has left the view or the page. */
  hidden(url: URL): void
  /** Whether anything but intent counts; asked at every scan. */
  allowed(): boolean
}

/** Watches the links of a document. */
export interface LinkWatch {
  /** Looks for new and removed links at once; happens by itself, when the browser is idle, after changes of the page. */
  scan(): void
  /** Ends all watching. Nothing more is reported. */
  stop(): void
}

/** A URL that links in view, or in the page, lead to. */
interface ShownTarget {
  readonly url: URL
  readonly when: 'viewport' | 'render'
  links: number
  /** Whether it has been reported as visible. */
  told: boolean
}

const REST_MS = 50 // a mouse on its way across a list of links points at none of them
const IDLE_LIMIT_MS = 500 // a page that is always busy still gets its links

const EAGER = ':is([data-prefetch=viewport],[data-prefetch=render])'
const EAGER_LINKS = `a[href]${EAGER},${EAGER} a[href]`

/**
 * Watches links by one set of listeners and one observer of each kind, however many links there are. What a link asks for
 * is its own `data-prefetch`, or that of the nearest element around it: `intent` unless told, `viewport`, `render`, `none`.
 * Bound: one entry a link that asks for `viewport` or `render`, until a scan finds it gone.
 */
export function watchLinks(options: LinkPrefetchOptions): LinkWatch {
  const { document, window } = options
  const { origin } = window.location
  const scheduler = idleScheduler(window)
  const ending = new AbortController()
  const watched = new Map<Element, URL>()
  const shown = new Set<Element>()
  const targets = new Map<string, ShownTarget>()
  const changed = new Set<ShownTarget>()
  let pointed: HTMLAnchorElement | undefined
  let rest: number | undefined
  let idle: number | undefined
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

  /** Notes that a link counts from now on, or does not any more. */
  function mark(anchor: Element, url: URL, counts: boolean, when: 'viewport' | 'render'): void {
    if (shown.has(anchor) === counts) return
    const target = targets.get(url.href) ?? { url, when, links: 0, told: false }
    if (counts) shown.add(anchor)
    else shown.delete(anchor)
    target.links += counts ? 1 : -1
    targets.set(url.href, target)
    changed.add(target)
  }

  /** Only once all links are marked: one link may leave when another one to the same URL comes. */
  function report(): void {
    for (const target of changed) {
      const { url, when, links, told } = target
      target.told = links > 0
      if (links === 0) targets.delete(url.href)
      if (links > 0 && !told) options.visible(url, when)
      if (links === 0 && told) options.hidden(url)
    }
    changed.clear()
  }

  function onIntersection(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const url = watched.get(target)
      if (url) mark(target, url, isIntersecting, 'viewport')
    }
    report()
  }

  function scan(): void {
    if (idle !== undefined) scheduler.cancel(idle)
    idle = undefined
    const found = new Map<Element, URL>()
    if (options.allowed()) {
      for (const anchor of document.querySelectorAll<HTMLAnchorElement>(EAGER_LINKS)) {
        const url = /^(?:viewport|render)$/.test(modeOf(anchor)) && linkUrl(anchor, { origin })
        if (!url) continue
        url.hash = ''
        found.set(anchor, url)
      }
    }
    for (const [anchor, url] of watched) {
      if (found.get(anchor)?.href === url.href) continue
      watched.delete(anchor)
      observer?.unobserve(anchor)
      mark(anchor, url, false, 'render')
    }
    for (const [anchor, url] of found) {
      if (watched.has(anchor)) continue
      watched.set(anchor, url)
      if (modeOf(anchor) === 'render') mark(anchor, url, true, 'render')
      else (observer ??= new window.IntersectionObserver(onIntersection)).observe(anchor)
    }
    report()
  }

  function scanWhenIdle(): void {
    idle ??= scheduler.request(scan)
  }

  const listening = { passive: true, capture: true, signal: ending.signal }
  const onEvent = (event: Event): void => noticeIntent(eventAnchor(event))
  document.addEventListener('pointerover', point, listening)
  for (const type of ['pointerdown', 'touchstart', 'focusin']) document.addEventListener(type, onEvent, listening)
  const mutations = new window.MutationObserver(scanWhenIdle)
  // Frameworks give an element another target as readily as another place.
  mutations.observe(document, { childList: true, subtree: true, attributeFilter: ['href', 'data-prefetch'] })
  scanWhenIdle()

  return {
    scan,
    stop() {
      ending.abort()
      mutations.disconnect()
      observer?.disconnect()
      window.clearTimeout(rest)
      if (idle !== undefined) scheduler.cancel(idle)
    },
  }
}

/** Safari has no idle callbacks; there, the end of the task must do. */
function idleScheduler(window: Window): { request(work: () => void): number; cancel(handle: number): void } {
  // The library says that they are always there.
  return typeof (window as Partial<Window>).requestIdleCallback === 'function'
    ? {
        request: (work) => window.requestIdleCallback(work, { timeout: IDLE_LIMIT_MS }),
        cancel: (handle) => window.cancelIdleCallback(handle),
      }
    : { request: (work) => window.setTimeout(work), cancel: (handle) => window.clearTimeout(handle) }
}

function modeOf(anchor: Element): string {
  return anchor.closest('[data-prefetch]')?.getAttribute('data-prefetch') ?? 'intent'
}

/** Whether a visitor asks for little traffic, or has a connection on which a guess is dear. */
export function savesData(navigator: Navigator): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean; effectiveType?: string } }
  return !!connection && (connection.saveData === true || connection.effectiveType?.endsWith('2g') === true)
}
