import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react'
import { withBasePath } from '../../shared/base-path.ts'

/** When the client router may prefetch a link's route. */
export type Prefetch = 'intent' | 'viewport' | 'render' | 'none'

/** Props of `Link`: those of an anchor, with `href` required. */
export interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElementLike> {
  /**
   * A path of the table (see `href()`), to which the base path is added, or any http(s), mailto or tel URL. Script URLs are
   * dropped.
   */
  readonly href: string
  readonly prefetch?: Prefetch
  readonly ref?: Ref<HTMLAnchorElementLike>
}

// The server's program has no DOM types, and needs none of an anchor's.
type HTMLAnchorElementLike = typeof globalThis extends { HTMLAnchorElement: { prototype: infer Element } }
  ? Element
  : object

/**
 * Schemes that run script in this page. URL parsers drop control characters and spaces before and inside the scheme.
 */
// oxlint-disable-next-line no-control-regex -- those characters are what the guard is about
const SCRIPT_URL =
  /^[\u0000-\u0020]*(?:j[\s]*a[\s]*v[\s]*a[\s]*s[\s]*c[\s]*r[\s]*i[\s]*p[\s]*t|v[\s]*b[\s]*s[\s]*c[\s]*r[\s]*i[\s]*p[\s]*t|d[\s]*a[\s]*t[\s]*a)[\s]*:/i

/** An anchor to another page. Without hooks and context, so that it costs no more than an anchor. */
export function Link({ href, prefetch, ...rest }: LinkProps): ReactNode {
  // A path is by far the most common case and has no scheme.
  const safe = href.charCodeAt(0) === 0x2f || !SCRIPT_URL.test(href) ? withBasePath(href) : undefined
  return prefetch === undefined ? <a {...rest} href={safe} /> : <a {...rest} href={safe} data-prefetch={prefetch} />
}
