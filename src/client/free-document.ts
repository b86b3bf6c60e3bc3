import { HYDRATION_DATA_GLOBAL } from '../shared/protocol/hydration-data.ts'
import type { ReportingPage } from './reports/page-reports.ts'

/** Elements whose name, or id, becomes a member of `document`. */
const NAMED = ':is(img,form,embed,object,iframe)[name],object[id]'

/** Members of `document` that React checks and current browsers do not have. */
const SOUGHT_BY_REACT = /react|documentMode/i

/** Globals that may be undefined: an element with that id would be used instead. */
const GLOBALS: readonly string[] = [HYDRATION_DATA_GLOBAL, 'millraceReports' satisfies keyof ReportingPage]

/**
 * Prevents names in visitors' HTML from hiding members that scripts use (DOM clobbering). An image named
 * `createElement` replaces `document.createElement`, and a heading with the id `x` becomes `window.x`. Removes such
 * names from elements, and watches until the document is fully parsed, because parts of it may still be streaming.
 */
export function freeDocument(page: typeof globalThis): void {
  for (const name of GLOBALS) {
    if (!Object.hasOwn(page, name)) Object.defineProperty(page, name, { value: undefined, writable: true })
  }
  const { document, Document, Element, MutationObserver } = page
  // Taken from the prototypes: the members of the document, and of a form, may themselves be hidden.
  const { querySelectorAll } = Document.prototype
  const { getAttribute, removeAttribute } = Element.prototype
  const free = (): void => {
    for (const element of querySelectorAll.call(document, NAMED)) {
      for (const attribute of ['name', 'id']) {
        const value = getAttribute.call(element, attribute)
        if (value !== null && (value in Document.prototype || SOUGHT_BY_REACT.test(value)))
          removeAttribute.call(element, attribute)
      }
    }
  }
  free()
  if (document.readyState !== 'loading') return
  const observer = new MutationObserver(free)
  observer.observe(document, { childList: true, subtree: true })
  page.addEventListener('DOMContentLoaded', () => observer.disconnect(), { once: true })
}
