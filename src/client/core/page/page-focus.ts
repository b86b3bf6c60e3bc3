import { unhidden } from './form-members.ts'
import { hashTarget } from './scroll-positions.ts'

const REGION_ID = 'millrace-announcer'
const ANNOUNCE_MS = 100 // screen readers announce text only in a region that they know already

/**
 * Does after a navigation what a browser does after loading a document: moves the focus to the new page, and announces
 * its title. The focus moves to the target of the fragment, else to an `[autofocus]` in `main`, else to the first
 * heading; it stays if it, or the heading, is inside `data-focus="keep"`.
 * @param before the focused element before the new page: if that has changed, the page itself has moved the focus.
 */
export function announcePage(document: Document, before?: Element | null): void {
  // First: clearing the region then shares a layout with the new page, which moving the focus forces.
  announce(document)
  moveFocus(document, before)
}

/** The part of `announcePage` that moves the focus. */
export function moveFocus(document: Document, before?: Element | null): void {
  const { activeElement: active, body } = document
  const lost = !active || active === body
  if (!lost && before !== undefined && active !== before) return
  const visible = (selector: string): HTMLElement | undefined =>
    [...document.querySelectorAll<HTMLElement>(selector)].find((element) => element.getClientRects().length > 0)

  const heading = visible('main h1') ?? visible('h1') ?? visible('main') ?? body
  const target = hashTarget(document, document.location.hash)
  const wish = target ?? visible('main [autofocus]') ?? heading
  if (!lost && (isKept(active) || isKept(heading))) return
  focus(wish)
}

function isKept(element: Element): boolean {
  return unhidden(element).closest('[data-focus=keep]') !== null
}

/** Makes an element focusable if it is not; others keep their place in the tab order. */
function focus(element: Element & { focus?(options: FocusOptions): void }): void {
  const members = unhidden(element)
  // Only once: a layout that stays has it from an earlier page.
  members.removeAttribute('autofocus')
  members.focus?.({ preventScroll: true })
  if (document.activeElement === element) return
  if (!members.hasAttribute('tabindex')) members.setAttribute('tabindex', '-1')
  members.focus?.({ preventScroll: true })
}

/** Reads the title when it writes the text, because titles may arrive a little later than pages. */
function announce(document: Document): void {
  const region = document.querySelector(`body>#${REGION_ID}`) ?? createRegion(document)
  region.textContent = ''
  setTimeout(() => {
    const text = document.title || document.querySelector('h1')?.textContent || ''
    if (region.textContent !== text) region.textContent = text
  }, ANNOUNCE_MS)
}

/** At the end of the body, which React does not touch. */
function createRegion(document: Document): HTMLElement {
  const region = document.createElement('div')
  region.id = REGION_ID
  region.role = 'status'
  region.ariaLive = 'polite'
  // Through the CSSOM: a policy may forbid `style` attributes.
  region.style.cssText = 'position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%)'
  document.body.append(region)
  return region
}
