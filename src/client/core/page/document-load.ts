import type { DraftKeeper } from './drafts.ts'

/**
 * Leaves the client router: makes the browser load a document, and saves typed input for it.
 * @param href of any site; relative to the address bar. `reload` ignores it and loads the URL of the address bar.
 * @param how `replace` removes the page on screen from the history.
 * @throws {TypeError} unless `href` is an http(s) URL: it could be a script.
 */
export function loadDocument(
  window: Window,
  href: string,
  how: 'assign' | 'replace' | 'reload',
  drafts: Pick<DraftKeeper, 'save'>,
): void {
  const { location } = window
  const url = new URL(how === 'reload' ? location.href : href, location.href)
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`Not the URL of a document: ${href}`)
  drafts.save(url.pathname)
  // With a fragment, the URL of the page on screen would load nothing.
  const isFragment = url.href.includes('#') && url.href.split('#')[0] === location.href.split('#')[0]
  if (how !== 'reload') location[how](url.href)
  if (how === 'reload' || isFragment) location.reload()
}
