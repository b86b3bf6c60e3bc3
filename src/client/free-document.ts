import { HTML_MARK, HYDRATION_DATA_GLOBAL } from '../shared/protocol/hydration-data.ts'
import type { ReportingPage } from './reports/page-reports.ts'

/** Elements whose name, or id, becomes a member of `document`. */
const NAMED = ':is(img,form,embed,object,iframe)[name],object[id]'

/** Members of `document` that React checks and current browsers do not have. */
const SOUGHT_BY_REACT = /react|documentMode/i

/** A member of targets of events that React reads, and that only parts of pictures have. */
const SOUGHT_IN_TARGETS = /^correspondingUseElement$/

/** Elements whose name, or id, becomes a member of their form, in HTML that visitors wrote. */
const FIELDS = `[${HTML_MARK}] :is(button,fieldset,img,input,object,output,select,textarea)`

const PREFETCHES = `[${HTML_MARK}] [data-prefetch]`

/** Globals that may be undefined: an element with that id would be used instead. */
const GLOBALS: readonly string[] = [
  HYDRATION_DATA_GLOBAL,
  'millraceReports' satisfies keyof ReportingPage,
  'requestIdleCallback', // missing in Safari
]

/**
 * Prevents names in visitors' HTML from hiding members that scripts use (DOM clobbering). An image named
 * `createElement` replaces `document.createElement`, a heading with the id `x` becomes `window.x`, and React climbs for ever
 * in a form with a field named `parentNode`. Removes such names from elements, and from those that come later: parts of the
 * document may still be streaming, and the pages of later navigations have visitors' HTML too. In that HTML, also removes
 * the settings of prefetches: only the application decides what is requested without a visitor.
 */
export function freeDocument(page: typeof globalThis): void {
  for (const name of GLOBALS) {
    if (!Object.hasOwn(page, name)) Object.defineProperty(page, name, { value: undefined, writable: true })
  }
  const { document, Document, Element, MutationObserver, Node } = page
  // Taken from the prototypes: the members of the document, and of a form, may themselves be hidden.
  const { getAttribute, matches, querySelectorAll, removeAttribute } = Element.prototype
  const freeFrom = (element: Element, isTaken: (name: string) => boolean): void => {
    for (const attribute of ['name', 'id']) {
      const value = getAttribute.call(element, attribute)
      if (value !== null && isTaken(value)) removeAttribute.call(element, attribute)
    }
  }
  const free = (find: (selector: string) => Iterable<Element>): void => {
    for (const element of find(NAMED))
      freeFrom(element, (name) => name in Document.prototype || SOUGHT_BY_REACT.test(name))
    // `contains` is a good name of a field, and nothing calls that of a form.
    for (const element of find(FIELDS))
      freeFrom(element, (name) => /[A-Z]/.test(name) && (name in Node.prototype || SOUGHT_IN_TARGETS.test(name)))
    for (const element of find(PREFETCHES)) removeAttribute.call(element, 'data-prefetch')
  }
  free((selector) => Document.prototype.querySelectorAll.call(document, selector))
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue
        free((selector) => (matches.call(node, selector) ? [node] : []))
        free((selector) => querySelectorAll.call(node, selector))
      }
    }
  }).observe(document, { childList: true, subtree: true })
  // HTML that `Html` is about to show: the observer sees it too late.
  document.addEventListener('millrace:html', ({ detail }: CustomEventInit<Element>) => {
    if (detail) free((selector) => querySelectorAll.call(detail, selector))
  })
}
