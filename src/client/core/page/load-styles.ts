import { RouteLoadError } from '../../react/router-errors.ts'

/** The stylesheets of routes in this document. */
export interface Stylesheets {
  /**
   * Brings the stylesheets of a view, without any effect on the page on screen.
   * @param hrefs public paths of all that the view needs, in the order of the cascade, without the document's own.
   * @throws {RouteLoadError} for the first that does not come. A later call tries again.
   */
  load(hrefs: readonly string[]): Promise<void>
  /**
   * Makes exactly these stylesheets of routes apply; the others stay, switched off, for the way back.
   * @param hrefs as they were given to `load`.
   * @param isRoutes whether a stylesheet that the server wrote belongs to routes (`SegmentFiles.names`), by its public
   * path; unless told, those are left as they are.
   */
  show(hrefs: readonly string[], isRoutes?: (path: string) => boolean): void
  /** As `load`, ahead, at the lowest priority, and without an answer. */
  preload(hrefs: readonly string[]): void
}

/** Where stylesheets stand whose order the cascade depends on. Old copies that wait for their successor take no part. */
const SHEETS = 'link[rel=stylesheet][data-precedence=route]:not([data-replaced])'

const OFF = 'not all' // a media query that no page meets: fetched and parsed, but not applied

/** Bound: one element a stylesheet of the build, and a second one where two views need the same two in different orders. */
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

  /** One that fails is taken out, so that it is tried again. */
  function track(link: HTMLLinkElement, href: string): Promise<void> {
    const arrived = new Promise<void>((resolve, reject) => {
      link.addEventListener('load', () => resolve(), { once: true })
      const onError = (): void => {
        link.remove()
        reject(new RouteLoadError('stylesheet', href))
      }
      link.addEventListener('error', onError, { once: true })
    })
    arrived.catch(() => undefined) // whoever needs it hears of it
    coming.set(link, arrived)
    return arrived
  }

  /**
   * Whether it applies, or is still loading. A stylesheet of the document that has failed is empty, or nobody may look into
   * it, or there is none: by engine, and by how it has failed. None is also what there is before it has loaded.
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

  /** The elements for these stylesheets, in this order in the document; those that are missing are put in their place. */
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
      // What has failed on the page on screen is missed there, too.
      if (found) link.media = found.media
      // Behind the former one; the first before any that must come later.
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
