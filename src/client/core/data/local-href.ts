/**
 * Reads the target of a redirect as the browser does, which will go there.
 * @param to a path of this site.
 * @param origin `https://host` of the page.
 * @returns path, query and hash; `undefined` for anything that leads elsewhere, or is no path.
 */
export function localHref(to: string, origin: string): string | undefined {
  try {
    const url = new URL(to, origin)
    return to.startsWith('/') && url.origin === origin ? hrefOf(url) : undefined
  } catch {
    return undefined
  }
}

/** Path and query of an `href` that has both and a hash. */
export function withoutHash(href: string): string {
  return href.replace(/#.*/s, '')
}

/** Path, query and hash of a URL of this site. A second slash in front of them would make a host of what follows. */
export function hrefOf({ pathname, search, hash }: Pick<URL, 'pathname' | 'search' | 'hash'>): string {
  return pathname.replace(/^\/+/, '/') + search + hash
}
