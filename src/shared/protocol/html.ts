import { HtmlValue } from '../html-value.ts'

const HASH_CHARACTERS = 22 // 132 bits

/** What this module uses of Node, without its types: it is in browsers too. */
interface NodeGlobals {
  readonly process: {
    getBuiltinModule?(id: 'node:crypto'): { hash(algorithm: string, text: string, encoding: 'base64url'): string }
  }
}

/**
 * HTML for `Html`, from a text that the application vouches for: browsers show it as it is. Sanitise what visitors wrote, or
 * escape it. Close every element: a document contains the text once if it is balanced, otherwise twice.
 * @throws {TypeError} for anything but a string.
 * @example
 * ```ts
 * import { html } from 'millrace/server'
 *
 * export async function loader({ params }: { params: { id: string } }) {
 *   return { description: html(renderMarkdown(await readDescription(params.id))) }
 * }
 * ```
 */
export function html(text: string): HtmlValue {
  if (typeof text !== 'string')
    throw new TypeError(`html() takes a string, not ${text === null ? 'null' : typeof text}`)
  return new HtmlValue(text, hashOf(text))
}

/** In a browser, which sends no such value, the text is as good. One that visitors can collide would hide changes. */
function hashOf(text: string): string {
  const crypto = (globalThis as Partial<NodeGlobals>).process?.getBuiltinModule?.('node:crypto')
  return crypto === undefined ? text : crypto.hash('sha256', text, 'base64url').slice(0, HASH_CHARACTERS)
}
