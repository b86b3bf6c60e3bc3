import { HYDRATION_DATA_GLOBAL } from '../shared/protocol/hydration-data.ts'
import type { ReportingPage } from './reports/page-reports.ts'

/** Elements whose name, or id, becomes a member of `document`. */
const NAMED = ':is(img,form,embed,object,iframe)[name],object[id]'

/** Members of `document` that React checks and current browsers do not have. */
const SOUGHT_BY_REACT = /react|documentMode/i

/** Globals that may be undefined: an element with that id would be used instead. */
const GLOBALS: readonly string[] = [
  HYDRATION_DATA_GLOBAL,
  'millraceReports' satisfies keyof ReportingPage,
  'requestIdleCallback', // missing in Safari
]

/**
 * Prevents names in visitors' HTML from hiding members that scripts use (DOM clobbering). An image named
 * `createElement` replaces `document.createElement`, and a heading with the id `x` becomes `window.x`. Removes such
 * names from elements, and from those that come later: parts of the document may still be streaming, and the pages of
 * later navigations have visitors' HTML too.
 */
export function freeDocument(page: typeof globalThis): void {
  for (const name of GLOBALS) {
    if (!Object.hasOwn(page, name)) Object.defineProperty(page, name, { value: undefined, writable: true })
  }
  const { document, Document, Element, MutationObserver } = page
  // Taken from the prototypes: the members of the document, and of a form, may themselves be hidden.
  const { getAttribute, matches, querySelectorAll, removeAttribute } = Element.prototype
  const free = (element: Element): void => {
    for (const attribute of ['name', 'id']) {
      const value = getAttribute.call(element, attribute)
      if (value !== null && (value in Document.prototype || SOUGHT_BY_REACT.test(value)))
        removeAttribute.call(element, attribute)
    }
  }
  Document.prototype.querySelectorAll.call(document, NAMED).forEach(free)
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue
        if (matches.call(node, NAMED)) free(node)
        querySelectorAll.call(node, NAMED).forEach(free)
      }
    }
  }).observe(document, { childList: true, subtree: true })
}
