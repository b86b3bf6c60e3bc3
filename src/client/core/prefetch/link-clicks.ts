import { isRuntimePath } from '../../../shared/runtime-paths.ts'

/** What of `Location` a link is compared with: where the page on screen is. */
export type PageLocation = Pick<Location, 'origin' | 'pathname' | 'search'>

/** A link, in HTML or in a drawing. */
export type LinkElement = HTMLAnchorElement | SVGAElement

/** A click that means a navigation inside of the application. */
export interface ClickTarget {
  readonly anchor: LinkElement
  readonly url: URL
  /** It leads to a fragment of the page on screen: the browser moves itself, and knows what `:target` is. */
  readonly isWithin: boolean
}

/**
 * Tells which navigation of this application a click means. To be asked after all other listeners of the page, so that
 * `preventDefault` anywhere counts.
 * @returns `undefined` where the click is the browser's own business: new tabs and windows, downloads, other sites, other
 * schemes, and links inside of text that is being edited.
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
 * Hears of clicks when all other listeners have, also where one of those has stopped them on their way up: cards and
 * dialogs do so to keep clicks to themselves, and mean no links by it.
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
      // Behind what listens there already, React for its portals included.
      for (const node of event.composedPath()) node.addEventListener('click', heard, { signal })
      window.setTimeout(() => over.abort())
    },
    { capture: true },
  )
}

/** The innermost link that an event happened in, also inside of a shadow tree. */
export function eventAnchor(event: Event): LinkElement | undefined {
  return event.composedPath().find(isLink)
}

function isLink(target: EventTarget): target is LinkElement {
  const element = target as Element // or the document or the window, which have no name
  return element.localName === 'a' && element.hasAttribute('href')
}

/**
 * Where a link leads within this site and this tab.
 * @returns `undefined` for links that the browser must follow itself.
 */
export function linkUrl(anchor: LinkElement, base: Pick<PageLocation, 'origin'>): URL | undefined {
  const url = urlOf(anchor)
  // A `blob:` URL has the origin of its maker.
  if (url?.origin !== base.origin || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined
  const target =
    anchor.getAttribute('target') ?? anchor.ownerDocument.querySelector('base[target]')?.getAttribute('target')
  if ((target && target.toLowerCase() !== '_self') || anchor.hasAttribute('download')) return undefined
  const isBrowsers = /(?:^|\s)external(?:\s|$)/i.test(anchor.getAttribute('rel') ?? '') || isRuntimePath(url.pathname)
  return isBrowsers ? undefined : url
}

/** The `href` of a link in a drawing is an object, and not resolved. */
function urlOf({ href, baseURI }: LinkElement): URL | undefined {
  try {
    return new URL(typeof href === 'string' ? href : href.baseVal, baseURI)
  } catch {
    return undefined
  }
}
