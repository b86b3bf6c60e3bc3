/**
 * Reloads stylesheets. The old one stays until the new one has loaded, so that the page always has styles.
 * @param paths URL paths, without a query.
 * @param version makes the URL unique for caches.
 */
export function swapStylesheets(document: Document, paths: readonly string[], version: string): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"][href]')) {
    const url = new URL(link.href)
    if (!paths.includes(url.pathname) || link.dataset['replaced'] !== undefined) continue
    url.searchParams.set('v', version)
    const fresh = link.cloneNode()
    if (!(fresh instanceof HTMLLinkElement)) continue
    fresh.href = url.href
    link.dataset['replaced'] = ''
    fresh.addEventListener('load', () => link.remove(), { once: true })
    link.after(fresh)
  }
}
