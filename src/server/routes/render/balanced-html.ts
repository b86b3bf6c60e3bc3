/**
 * Whether a browser that parses a document with this HTML in an element finds the end of the element where its writer has
 * put it, and all of the HTML in it. May be `false` for HTML of which that is true: without closing tags that HTML can do
 * without, for example. Linear in the length of the text.
 * @param tag name of the element.
 */
export function isBalanced(text: string, tag: string): boolean {
  if (text.length > MOST_CHARACTERS) return false
  const isFlow = FLOW.has(tag)
  const open = [tag]
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', TOKEN.lastIndex)) {
    TOKEN.lastIndex = at
    if (text.startsWith(COMMENT, at)) {
      if (!skipComment(text, at + COMMENT.length)) return false
      continue
    }
    const [token, end, start = '', attributes = ''] = TOKEN.exec(text) ?? []
    if (token === undefined) return false
    const name = (end ?? start).toLowerCase()
    if (end !== undefined && (open.length === 1 || open.pop() !== name)) return false
    if (start === '') continue
    if (!(isFlow || PHRASING.has(name)) || ODD.has(name) || !fits(name, open.at(-1) ?? '')) return false
    if (open.includes('select') && !OPTIONS.has(name)) return false
    if (VOID.has(name)) continue
    const isDrawn = open.includes('svg') || open.includes('math')
    if (isDrawn && attributes.endsWith('/')) continue
    if (name === 'pre' && NEWLINE.test(text.slice(TOKEN.lastIndex, TOKEN.lastIndex + 1))) return false
    if (open.push(name) > MOST_DEPTH) return false
    if (RAW.has(name) && !skipRaw(text, name, isDrawn)) return false
  }
  return open.length === 1
}

const MOST_CHARACTERS = 1_048_576 // bounds the time; larger texts are rare, and then twice in the document
const MOST_DEPTH = 500 // browsers flatten what is deeper than 512

const COMMENT = '<!--'

// An end tag, or a start tag with its attributes.
const TOKEN = /<(?:\/([a-z][\w:-]*)\s*|([a-z][\w:-]*)((?:[\s/](?:[^"'<>=]|=\s*(?:"[^"]*"|'[^']*'|(?=[^\s"'])))*)?))>/iy
const NEWLINE = /[\r\n]/ // a parser drops the first one, and whoever reads the element back would lose the next

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Their other content is moved out of the table. */
const TABLE_BOXES = words('table tbody thead tfoot tr colgroup')

/** Elements that take any content. */
const FLOW = words(
  'div article section main aside header footer nav figure figcaption blockquote details ul ol li dl dt dd td th',
)

/** Content that closes no element around it. */
const PHRASING = words(
  'a abbr b bdi bdo br cite code data del dfn em i img ins kbd mark q s samp small span strong sub sup time u var wbr',
)
const VOID = words('area base br col embed hr img input link meta param source track wbr')
const RAW = words('script style textarea title iframe xmp noembed noframes')

/** All that a list of choices can hold: a parser drops other start tags, but not the end tags. */
const OPTIONS = words('option optgroup hr')

/** What a parser moves, or does not show as it was written. */
const ODD = words('html head body frameset frame template noscript plaintext listing image')

/** Elements that a parser drops, or that close others, where none of these is directly around them. */
const PARENTS: Readonly<Record<string, ReadonlySet<string>>> = {
  ...Object.fromEntries(
    'tr td th tbody thead tfoot caption colgroup col'.split(' ').map((name) => [name, TABLE_BOXES]),
  ),
  li: words('ul ol menu'),
  dt: words('dl div'),
  dd: words('dl div'),
}

function fits(name: string, parent: string): boolean {
  const parents = PARENTS[name]
  return parents === undefined ? !TABLE_BOXES.has(parent) : parents.has(parent)
}

function skipComment(text: string, from: number): boolean {
  const end = text.indexOf('-->', from)
  TOKEN.lastIndex = end + 3
  // The other ways in which a comment ends, or has ended already.
  return end >= from && !/^-?>|--!>/.test(text.slice(from, end + 1))
}

/** Moves to the end tag of an element whose content is text. */
function skipRaw(text: string, name: string, isDrawn: boolean): boolean {
  const from = TOKEN.lastIndex
  const length = text.slice(from).search(new RegExp(`</${name}[\\s/>]`, 'i'))
  TOKEN.lastIndex = from + length
  const content = text.slice(from, from + length)
  return length >= 0 && !content.includes('<!--') && !(isDrawn && content.includes('<'))
}
