import { HtmlValue } from '../html-value.ts'
import { createTextHash } from './text-hash.ts'

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
  const hash = createTextHash()
  hash.add(text)
  return new HtmlValue(text, hash.value())
}
