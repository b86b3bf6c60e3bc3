/** React names its errors by queries on its own site, which hold no data of a page. */
const REACT_ERROR = '//react.dev/errors/'
/** A position in a stack, and punctuation around a URL. */
const TAIL = /(?::\d{1,9}:\d{1,9})?[)"',.]{0,3}$/

/**
 * A text without the parts of its URLs that may be private: user and password, queries and fragments, and the content of
 * `data:` URLs. Paths stay, and positions in stacks. Takes linear time.
 */
export function withoutUrlSecrets(text: string): string {
  return text.replace(/\S+/g, wordWithoutSecrets)
}

function wordWithoutSecrets(word: string): string {
  if (word.includes(REACT_ERROR)) return word
  const shown = word.replace(/(data:[\w/+.-]*)[;,].*/, '$1').replace(/\/\/[^/?#@]*@/g, '//')
  const at = shown.search(/[?#]/)
  if (at === -1 || !shown.slice(0, at).includes('/')) return shown
  return shown.slice(0, at) + (TAIL.exec(shown.slice(at))?.[0] ?? '')
}
