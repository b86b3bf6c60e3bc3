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
   * @param prefix of the marks, for a document that is not sent at once. Unpredictable: no HTML of a later part then has such
   * a mark. Default: none, and `formIn` sees the whole document.
   * @param known marks that values of this document have already, by hash.
   */
  begin(prefix?: string, known?: ReadonlyMap<string, string>): void
  /**
   * The mark for the element of a value; call it for each element.
   * @param tag its name.
   * @returns `undefined` if a parser may not find the text of the element: its mark is empty.
   */
  markOf(value: HtmlValue, tag: string): string | undefined
  /** How values are written behind this markup. */
  formIn(markup: string): HtmlForm
  /** The marks so far, by hash. */
  byHash(): ReadonlyMap<string, string>
}

/** What is known of one text. */
interface MarkedText {
  readonly hash: string
  /** Of all its elements, on the server and in the browser. */
  readonly mark: string | undefined
  /** Whether the values have it too. */
  inValues: boolean
}

/** @param onUnbalanced called for each value whose text a browser may not find in its element. */
export function createHtmlMarks(onUnbalanced?: (value: HtmlValue, tag: string) => void): HtmlMarks {
  /** By text, because a value from a cache is another object for each reader. Bound: the values of one document. */
  const texts = new Map<string, MarkedText>()
  const state = { elements: 0, prefix: '', known: new Map() as ReadonlyMap<string, string> }
  const add = ({ text, hash }: HtmlValue, isMarked: boolean, inValues: boolean): MarkedText => {
    const mark = state.known.get(hash) ?? (isMarked ? state.prefix + String(texts.size) : undefined)
    const marked = { hash, mark, inValues }
    texts.set(text, marked)
    return marked
  }
  return {
    begin(prefix = '', known = new Map()) {
      texts.clear()
      Object.assign(state, { elements: 0, prefix, known })
    },
    markOf(value, tag) {
      const isSafe = isKnownBalanced(value, tag)
      if (!isSafe) onUnbalanced?.(value, tag)
      const marked = texts.get(value.text) ?? add(value, isSafe, false)
      marked.inValues ||= !isSafe
      state.elements += 1
      return marked.mark
    },
    formIn(markup) {
      // Without a prefix HTML could have such an attribute by itself; then the marks are not to be trusted.
      const count = state.elements === 0 ? 0 : markup.split(ATTRIBUTE).length - 1
      const isTrusted = count > 0 && (state.prefix !== '' || count === state.elements)
      const shown = new Set(isTrusted ? [...markup.matchAll(MARKED)].map(([, mark]) => mark) : [])
      return (value) => {
        // An element that comes later has the mark as well, so that hydration finds it as it is.
        const { mark, inValues } = texts.get(value.text) ?? add(value, state.prefix !== '', true)
        return !inValues && shown.has(mark) ? [null, mark] : [value.text, mark]
      }
    },
    byHash: () => new Map([...texts.values()].flatMap(({ hash, mark }) => (mark === undefined ? [] : [[hash, mark]]))),
  }
}

const ATTRIBUTE = new RegExp(HTML_MARK, 'i')
const MARKED = new RegExp(`${HTML_MARK}="([^"]*)"`, 'g')

/** Values that live as long as their module are checked once. */
const balanced = new WeakMap<HtmlValue, Map<string, boolean>>()

function isKnownBalanced(value: HtmlValue, tag: string): boolean {
  const known = balanced.get(value) ?? new Map<string, boolean>()
  balanced.set(value, known)
  const isKnown = known.get(tag) ?? isBalanced(value.text, tag)
  known.set(tag, isKnown)
  return isKnown
}
