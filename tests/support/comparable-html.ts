/** HTML of two builds of one application, made comparable. */
import { parse, serialize, type DefaultTreeAdapterTypes } from 'parse5'

type Element = DefaultTreeAdapterTypes.Element
type Node = DefaultTreeAdapterTypes.ChildNode

/** Elements that name a build's files or carry its data. */
const OF_BUILD: ReadonlySet<string> = new Set(['script', 'link', 'style', 'template', '#comment'])

/**
 * The document without scripts, stylesheets and comments; class names are numbered by their first use, since each build
 * has its own, and ids and nonces are left out.
 */
export function comparableHtml(html: string): string {
  const document = parse(html)
  const classes = new Map<string, number>()
  clean(document.childNodes as Node[], classes)
  return serialize(document).replaceAll('><', '>\n<')
}

function clean(nodes: Node[], classes: Map<string, number>): void {
  const kept = nodes.filter(({ nodeName }) => !OF_BUILD.has(nodeName))
  nodes.splice(0, nodes.length, ...kept)
  for (const node of kept) {
    if (!('attrs' in node)) continue
    cleanAttributes(node, classes)
    clean(node.childNodes, classes)
  }
}

function cleanAttributes(element: Element, classes: Map<string, number>): void {
  element.attrs = element.attrs.filter(({ name }) => name !== 'id' && name !== 'nonce')
  for (const attribute of element.attrs) {
    if (attribute.name !== 'class') continue
    const numbers = attribute.value.split(/\s+/).map((name) => {
      const number = classes.get(name) ?? classes.size
      classes.set(name, number)
      return number
    })
    attribute.value = numbers.join(' ')
  }
}
