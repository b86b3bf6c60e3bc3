import { HTML_MARK } from '../../../shared/protocol/hydration-data.ts'
import type { HtmlValue } from '../../../shared/html-value.ts'
import type { HtmlForm } from '../../../shared/protocol/value-frames.ts'
import { isBalanced } from './balanced-html.ts'

/**
 * The HTML values that one document shows. The element of each has a mark, so that the hydration data names the mark in
 * place of the text: a browser reads the text from the element.
 */
export interface HtmlMarks {
  /**
   * Begins again, for another attempt to render.
   * @param prefix of the marks. Unpredictable for a document that is not sent at once: no HTML of a later part then has
   * such a mark. Default: none, and `formIn` sees the whole document.
   */
  begin(prefix?: string): void
  /**
   * The mark for the element of a value; call it for each element.
   * @param tag its name.
   * @returns `undefined` if a parser may not find the text of the element.
   */
  markOf(value: HtmlValue, tag: string): string | undefined
  /** How values are written behind this markup. */
  formIn(markup: string): HtmlForm
}

/** @param onUnbalanced called for each value whose text a browser may not find in its element. */
export function createHtmlMarks(onUnbalanced?: (value: HtmlValue, tag: string) => void): HtmlMarks {
  /** Bound: the values of one document. */
  const marks = new Map<string, string>()
  let elements = 0
  let prefix = ''
  // By its text: a value from a cache is another object for each reader.
  const numberOf = ({ text }: HtmlValue): string => {
    const mark = marks.get(text) ?? prefix + String(marks.size)
    marks.set(text, mark)
    return mark
  }
  return {
    begin(of = '') {
      marks.clear()
      elements = 0
      prefix = of
    },
    markOf(value, tag) {
      if (!isKnownBalanced(value, tag)) {
        onUnbalanced?.(value, tag)
        return undefined
      }
      elements += 1
      return numberOf(value)
    },
    formIn(markup) {
      // Without a prefix HTML could have such an attribute by itself; then the marks are not to be trusted.
      const count = elements === 0 ? 0 : markup.split(ATTRIBUTE).length - 1
      const isTrusted = prefix !== '' || count === elements
      return (value) => {
        const mark = numberOf(value)
        return isTrusted && count > 0 && markup.includes(`${HTML_MARK}="${mark}"`) ? [null, mark] : [value.text, mark]
      }
    },
  }
}

const ATTRIBUTE = new RegExp(HTML_MARK, 'i')

/** Values that live as long as their module are checked once. */
const balanced = new WeakMap<HtmlValue, Map<string, boolean>>()

function isKnownBalanced(value: HtmlValue, tag: string): boolean {
  const known = balanced.get(value) ?? new Map<string, boolean>()
  balanced.set(value, known)
  const isKnown = known.get(tag) ?? isBalanced(value.text, tag)
  known.set(tag, isKnown)
  return isKnown
}
