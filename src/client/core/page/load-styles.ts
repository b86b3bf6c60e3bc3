import { RouteLoadError } from '../../react/router-errors.ts'

/** The stylesheets of routes in this document. */
export interface Stylesheets {
  /**
   * Loads the stylesheets of a view, without any effect on the page on screen.
   * @param hrefs public paths of all that the view needs, in the order of the cascade, without the document's own.
   * @throws {RouteLoadError} for the first that does not load. A later call tries again.
   */
  load(hrefs: readonly string[]): Promise<void>
  /**
   * Applies exactly these route stylesheets; the others stay in the document, switched off, for going back.
   * @param hrefs as given to `load`.
   * @param isRoutes whether a stylesheet from the server belongs to routes (`SegmentFiles.names`), by its public path;
   * by default, those are left alone.
   */
  show(hrefs: readonly string[], isRoutes?: (path: string) => boolean): void
  /** As `load`, in advance, at the lowest priority, and without a result. */
  preload(hrefs: readonly string[]): void
}

/** Stylesheets whose order the cascade depends on. Old copies that wait for their replacement do not count. */
const SHEETS = 'link[rel=stylesheet][data-precedence=route]:not([data-replaced])'

const OFF = 'not all' // a media query that never matches: fetched and parsed, but not applied

/**
 * Bound: one element per stylesheet of the build, and a second one if two views need the same two in different orders.
 */
export function createStylesheets(document: Document): Stylesheets {
  const coming = new WeakMap<HTMLLinkElement, Promise<void>>()
  const served = new WeakSet(sheets())

  /** In the order of the document. */
  function sheets(): HTMLLinkElement[] {
    return [...document.querySelectorAll<HTMLLinkElement>(SHEETS)]
  }

  function pathOf({ href }: { readonly href: string }): string {
    return new URL(href, document.baseURI).pathname
  }

  function create(href: string, priority: 'low' | 'high'): HTMLLinkElement {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.dataset['precedence'] = 'route'
    link.media = OFF
    link.fetchPriority = priority
    link.href = href
    track(link, href)
    return link
  }

  /** Removes a failed one, so that it is tried again. */
  function track(link: HTMLLinkElement, href: string): Promise<void> {
    const arrived = new Promise<void>((resolve, reject) => {
      link.addEventListener('load', () => resolve(), { once: true })
      const onError = (): void => {
        link.remove()
        reject(new RouteLoadError('stylesheet', href))
      }
      link.addEventListener('error', onError, { once: true })
    })
    arrived.catch(() => undefined) // callers that need it handle the failure
    coming.set(link, arrived)
    return arrived
  }

  /**
   * Whether it applies, or is still loading. A failed stylesheet of the document is empty, inaccessible, or missing,
   * depending on the engine and the failure. It is also missing before it has loaded.
   */
  function isSound(link: HTMLLinkElement): boolean {
    if (coming.has(link)) return true
    try {
      if (link.sheet) return link.sheet.cssRules.length > 0
    } catch {
      return false
    }
    return !served.has(link) || (document.readyState !== 'complete' && !performance.getEntriesByName(link.href).length)
  }

  /** The elements of these stylesheets, in this order in the document; missing ones are inserted. */
  function place(hrefs: readonly string[], priority: 'low' | 'high'): HTMLLinkElement[] {
    const present = sheets()
    const places = present.map(pathOf)
    const paths = hrefs.map((href) => pathOf({ href }))
    let from = 0
    return paths.map((path) => {
      const index = places.indexOf(path, from)
      const found = present[index]
      if (found && isSound(found)) {
        from = index + 1
        return found
      }
      const link = create(path, priority)
      // If it has failed on the page on screen, that page needs the new copy too.
      if (found) link.media = found.media
      // After the previous one; the first before any that must follow.
      const next = found ? index : from || places.findIndex((other) => paths.includes(other))
      const at = next < 0 ? present.length : next
      if (found) found.replaceWith(link)
      else if (present[at]) present[at].before(link)
      else if (present[at - 1]) present[at - 1]?.after(link)
      else document.head.append(link)
      present.splice(at, found ? 1 : 0, link)
      places.splice(at, found ? 1 : 0, path)
      from = at + 1
      return link
    })
  }

  return {
    async load(hrefs) {
      const links = place(hrefs, 'high')
      await Promise.all(
        links.map((link, index) => coming.get(link) ?? (link.sheet ? undefined : track(link, hrefs[index] ?? ''))),
      )
    },
    show(hrefs, isRoutes) {
      const wanted = new Set(place(hrefs, 'high'))
      for (const link of sheets()) {
        if (wanted.has(link)) link.media = ''
        else if (coming.has(link) || isRoutes?.(pathOf(link))) link.media = OFF
      }
    },
    preload: (hrefs) => void place(hrefs, 'low'),
  }
}
