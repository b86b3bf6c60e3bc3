/**
 * Makes the browser fetch and compile modules before they are imported. Skips those that the document has already
 * requested. A failure shows when the module is imported.
 * @param hrefs public paths.
 */
export function preloadScripts(document: Document, hrefs: readonly string[], priority: 'low' | 'high'): void {
  for (const href of hrefs) {
    const name = CSS.escape(href)
    if (document.querySelector(`link[rel=modulepreload][href="${name}"],script[src="${name}"]`)) continue
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
    link.fetchPriority = priority
    link.href = href
    document.head.append(link)
  }
}
