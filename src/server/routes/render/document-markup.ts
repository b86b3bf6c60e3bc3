/**
 * The two places where the runtime adds to React's HTML: the start of the head, and the end of the body. Both are found
 * by markup that React always writes there, never by searching through content.
 */

/** `renderToString`, unlike the streaming renderer, leaves it out. */
export const DOCTYPE = '<!DOCTYPE html>'
const HEAD_START = /^(?:<!DOCTYPE html>)?<html(?:\s[^>]*)?><head(?:\s[^>]*)?>/
/** React ends each document with this. */
export const DOCUMENT_END = '</body></html>'

/** A document component that does not render `<html><head>…</head><body>…</body></html>`. */
export class DocumentShapeError extends Error {
  override readonly name = 'DocumentShapeError'

  constructor() {
    super(
      'The document component must render <html> with <head> as its first and <body> as its second child; ' +
        'put the `head` prop into <head> and `children` into <body>',
    )
  }
}

/**
 * Where the head's content begins.
 * @param shell the beginning of the document, at least up to the opening tag of the head.
 * @throws {DocumentShapeError}
 */
export function headStart(shell: string): number {
  const found = HEAD_START.exec(shell)
  if (found === null) throw new DocumentShapeError()
  return found[0].length
}
