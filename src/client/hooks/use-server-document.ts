import { useContext, type ReactNode } from 'react'
import { ServerDocumentContext } from '../react/server-document.ts'

/**
 * The nonce of the document's content security policy, for libraries that make `style` or `script` elements: on the server
 * that of the answer, in browsers that of the loaded document. A document with a nonce is never shared by caches.
 * @returns `undefined` in the browser, if the document was sent without one.
 */
export function useNonce(): string | undefined {
  const server = useContext(ServerDocumentContext)
  if (server !== null) return server.nonce()
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce || undefined
}

/**
 * Puts elements into the document beside React's, such as the rules that a CSS-in-JS library has collected: into the head,
 * and in a streamed document also before each part. They are not hydrated. Does nothing in browsers.
 * @param collect called before each part of the document is sent; returns what is new since its last call.
 */
export function useServerInsertedHTML(collect: () => ReactNode): void {
  useContext(ServerDocumentContext)?.insertions.push(collect)
}
