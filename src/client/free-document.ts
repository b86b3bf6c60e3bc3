import { HYDRATION_DATA_GLOBAL } from '../shared/protocol/hydration-data.ts'
import type { ReportingPage } from './reports/page-reports.ts'

/** The elements whose name, or id, is a member of their document. */
const NAMED = ':is(img,form,embed,object,iframe)[name],object[id]'

/** Members of `document` that React looks for and no browser of today has. */
const SOUGHT_BY_REACT = /react|documentMode/i

/** Globals of a page that may be missing: an element with the name would be taken for them. */
const GLOBALS: readonly string[] = [HYDRATION_DATA_GLOBAL, 'millraceReports' satisfies keyof ReportingPage]

/**
 * Keeps the names that visitors give to elements from hiding what scripts look for. In HTML an image named
 * `createElement` is what `document.createElement` gives from then on, and a heading with the id `x` is `window.x`.
 * Takes such names away from elements, and watches until the document has been read: parts of it are still on their way.
 */
export function freeDocument(page: typeof globalThis): void {
  for (const name of GLOBALS) {
    if (!Object.hasOwn(page, name)) Object.defineProperty(page, name, { value: undefined, writable: true })
  }
  const { document, Document, Element, MutationObserver } = page
  // Of the prototypes: those of the document, and of a form, may be hidden themselves.
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
