import { pagePath } from '../../../shared/base-path.ts'
import { isRuntimePath } from '../../../shared/runtime-paths.ts'

/** The part of `Location` to which links are compared: the page on screen. */
type PageLocation = Pick<Location, 'origin' | 'pathname' | 'search'>

/** A link, in HTML or in SVG. */
export type LinkElement = HTMLAnchorElement | SVGAElement

/** A click that is a navigation inside the application. */
export interface ClickTarget {
  readonly anchor: LinkElement
  readonly url: URL
  /** It leads to a fragment of the page on screen: the browser itself moves, and updates `:target`. */
  readonly isWithin: boolean
}

/**
 * The navigation of this application that a click causes. Call it after all other listeners of the page, so that every
 * `preventDefault` counts.
 * @returns `undefined` if the browser must handle the click itself: new tabs and windows, downloads, other sites, other
 * schemes, and links inside text that is being edited.
 */
export function clickTarget(event: MouseEvent, base: PageLocation): ClickTarget | undefined {
  const { button, metaKey, ctrlKey, shiftKey, altKey } = event
  if (event.defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return undefined
  const anchor = eventAnchor(event)
  const url = anchor && linkUrl(anchor, base)
  if (!url || ('isContentEditable' in anchor && anchor.isContentEditable)) return undefined
  const isWithin = url.href.includes('#') && url.pathname === base.pathname && url.search === base.search
  return { anchor, url, isWithin }
}

/**
 * Listens to clicks after all other listeners, even if one of those stops the propagation: cards and dialogs do so to
 * keep clicks to themselves, not to disable links.
 */
export function listenToClicks(window: Window, onClick: (event: MouseEvent) => void): void {
  window.addEventListener(
    'click',
    (event) => {
      const over = new AbortController()
      const { signal } = over
      const heard = ({ currentTarget }: Event): void => {
        if (currentTarget !== window && !event.cancelBubble) return
        over.abort()
        onClick(event)
      }
      // After existing listeners, including React's for portals. A form's own method may be hidden by a field.
      for (const node of event.composedPath()) window.addEventListener.call(node, 'click', heard, { signal })
      window.setTimeout(() => over.abort())
    },
    { capture: true },
  )
}

/** The innermost link in which an event happened, also inside a shadow tree. */
export function eventAnchor(event: Event): LinkElement | undefined {
  return event.composedPath().find(isLink)
}

function isLink(target: EventTarget): target is LinkElement {
  const element = target as Element // or the document or the window, which have no name
  return element.localName === 'a' && element.hasAttribute('href')
}

/**
 * Target of a link within this site and this tab.
 * @returns `undefined` for links that the browser must follow itself.
 */
export function linkUrl(anchor: LinkElement, base: Pick<PageLocation, 'origin'>): URL | undefined {
  const url = urlOf(anchor)
  // A `blob:` URL has the origin of its creator.
  if (url?.origin !== base.origin || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  const target =
    anchor.getAttribute('target') ?? anchor.ownerDocument.querySelector('base[target]')?.getAttribute('target')
  if ((target && target.toLowerCase() !== '_self') || anchor.hasAttribute('download')) return undefined
  const isBrowsers =
    /(?:^|\s)external(?:\s|$)/i.test(anchor.getAttribute('rel') ?? '') || isRuntimePath(pagePath(url.pathname))
  return isBrowsers ? undefined : url
}

/** The `href` of an SVG link is an object, and not resolved. */
function urlOf({ href, baseURI }: LinkElement): URL | undefined {
  try {
    return new URL(typeof href === 'string' ? href : href.baseVal, baseURI)
  } catch {
    return undefined
  }
}
