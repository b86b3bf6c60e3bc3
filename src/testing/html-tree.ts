/** HTML as a browser without scripts parses it, and CSS selectors over it. The parser is the application's own package. */
import type { DefaultTreeAdapterTypes } from 'parse5'
import { selectAll, type Options } from 'css-select'
import { HtmlSizeError } from './html-size-error.ts'

type Node = DefaultTreeAdapterTypes.Node

/** An element of a parsed document. */
export type HtmlNode = DefaultTreeAdapterTypes.Element

/** A parsed document. */
export interface HtmlTree {
  /**
   * Elements that match a CSS selector, in the order of the document; `:has()`, `:is()` and `:contains("text")` work
   * too.
   * @throws {SyntaxError} for a selector that cannot be parsed.
   */
  select(selector: string): readonly HtmlNode[]
}

const MOST_CHARACTERS = 64 * 1_048_576 // far more than a test looks at, and a few seconds of parsing
const MOST_DEPTH = 512 // browsers flatten what is deeper

/**
 * Parses a document.
 * @throws {HtmlSizeError} for more than 64 million characters, and for elements nested deeper than 512.
 */
export async function parseHtml(html: string): Promise<HtmlTree> {
  if (html.length > MOST_CHARACTERS) {
    throw new HtmlSizeError(`The HTML has ${html.length} characters; at most ${MOST_CHARACTERS} are parsed.`)
  }
  const { defaultTreeAdapter, parse } = await import('parse5')
  let depth = 0
  const treeAdapter = {
    ...defaultTreeAdapter,
    onItemPush() {
      depth += 1
      if (depth > MOST_DEPTH) {
        throw new HtmlSizeError(`The HTML nests more than ${MOST_DEPTH} elements; browsers flatten what is deeper.`)
      }
    },
    onItemPop() {
      depth -= 1
    },
  }
  // Without scripts, the content of <noscript> is part of the page.
  const roots = parse(html, { scriptingEnabled: false, treeAdapter }).childNodes
  return { select: (selector) => selectAll<Node, HtmlNode>(selector, roots, { adapter: ADAPTER }) }
}

/** Whether a node is an element. */
function isElement(node: Node): node is HtmlNode {
  return 'tagName' in node
}

/** The value of an attribute; `undefined` without it. */
export function attributeOf(element: HtmlNode, name: string): string | undefined {
  return element.attrs.find((attribute) => attribute.name === name)?.value
}

/** The text of an element and everything in it, without comments, scripts and styles. */
export function textOf(element: Node): string {
  let text = ''
  const waiting: Node[] = [element]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('value' in node && node.nodeName === '#text') text += node.value
    else if (!UNSEEN.has(node.nodeName)) for (const child of childrenOf(node).toReversed()) waiting.push(child)
  }
  return text
}

const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'template'])

/** The elements inside of one, in the order of the document. */
export function* elementsIn(root: Node): Generator<HtmlNode> {
  const waiting = childrenOf(root).toReversed()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!isElement(node)) continue
    yield node
    for (const child of childrenOf(node).toReversed()) waiting.push(child)
  }
}

/** The parent element of an element. */
export function parentOf(element: HtmlNode): HtmlNode | undefined {
  const { parentNode } = element
  return parentNode !== null && isElement(parentNode) ? parentNode : undefined
}

/** The innermost ancestor with this name. */
export function ancestorOf(element: HtmlNode, ...names: readonly string[]): HtmlNode | undefined {
  let node = parentOf(element)
  while (node !== undefined && !names.includes(node.tagName)) node = parentOf(node)
  return node
}

/** The document around an element. */
export function documentOf(element: HtmlNode): Node {
  let node: Node = element
  while ('parentNode' in node && node.parentNode !== null) node = node.parentNode
  return node
}

function childrenOf(node: Node): readonly Node[] {
  return 'childNodes' in node ? node.childNodes : []
}

const ADAPTER: NonNullable<Options<Node, HtmlNode>['adapter']> = {
  isTag: isElement,
  getAttributeValue: attributeOf,
  hasAttrib: (element, name) => attributeOf(element, name) !== undefined,
  getName: ({ tagName }) => tagName,
  getParent: ({ parentNode }) => parentNode,
  getChildren: (node) => [...childrenOf(node)],
  getSiblings: (node) => ('parentNode' in node && node.parentNode !== null ? node.parentNode.childNodes : [node]),
  getText: textOf,
  removeSubsets(nodes) {
    const all = new Set(nodes)
    return nodes.filter((node) => !hasAncestorIn(node, all))
  },
}

function hasAncestorIn(node: Node, nodes: ReadonlySet<Node>): boolean {
  let above = 'parentNode' in node ? node.parentNode : null
  while (above !== null && !nodes.has(above)) above = 'parentNode' in above ? above.parentNode : null
  return above !== null
}
