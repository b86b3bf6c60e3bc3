import { withBasePath, withoutBasePath } from '../../../shared/base-path.ts'
import { withoutAction } from '../../../shared/protocol/action-search.ts'

/**
 * Resolves the target of a redirect as the browser does.
 * @param to a path of the table.
 * @param origin `https://host` of the page.
 * @returns path, query and hash; `undefined` for another site, and for anything but a path.
 */
export function localHref(to: string, origin: string): string | undefined {
  try {
    const url = new URL(withBasePath(to), origin)
    return to.startsWith('/') && url.origin === origin ? hrefOf(url) : undefined
  } catch {
    return undefined
  }
}

/** Removes the hash of an `href`. */
export function withoutHash(href: string): string {
  return href.replace(/#.*/s, '')
}

/**
 * Path, query and hash of a URL of this site, without the base path and the name of an action: a page's URL names none, and
 * a link that does would choose what the next form on that page calls.
 */
export function hrefOf({ pathname, search, hash }: Pick<URL, 'pathname' | 'search' | 'hash'>): string {
  // Leading slashes are collapsed: `//` would begin a host.
  return withoutBasePath(pathname.replace(/^\/+/, '/') + withoutAction(search) + hash)
}
