import { attributeOf, parseHtml, textOf, type HtmlNode } from './html-tree.ts'

/** An element of a page. */
export interface PageElement {
  /** In lower case. */
  readonly tag: string
  /** Its text and that of everything in it; comments, such as those between two texts of React, are not in it. */
  readonly text: string
  /** By name, in lower case. */
  readonly attributes: Readonly<Record<string, string>>
}

/** A page as a browser without scripts sees it. */
export interface HtmlPage {
  readonly html: string
  /** All elements that match a CSS selector, in the order of the page. */
  all(selector: string): readonly PageElement[]
  /** The first of them. */
  find(selector: string): PageElement | undefined
  /** Its text. */
  text(selector: string): string | undefined
}

/**
 * Reads a page, so that selectors find something in it.
 * @throws {HtmlSizeError} for HTML that is too large or too deep to be a page.
 */
export async function readHtml(html: string): Promise<HtmlPage> {
  const tree = await parseHtml(html)
  const all = (selector: string): readonly PageElement[] => tree.select(selector).map(elementOf)
  const first = (selector: string): HtmlNode | undefined => tree.select(selector)[0]
  return {
    html,
    all,
    find(selector) {
      const node = first(selector)
      return node && elementOf(node)
    },
    text(selector) {
      const node = first(selector)
      return node && textOf(node)
    },
  }
}

function elementOf(node: HtmlNode): PageElement {
  const attributes: Record<string, string> = { __proto__: null } as never
  for (const { name } of node.attrs) attributes[name] = attributeOf(node, name) ?? ''
  return { tag: node.tagName, text: textOf(node), attributes }
}
