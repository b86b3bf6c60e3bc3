import { useContext, type AnchorHTMLAttributes, type ReactNode, type Ref } from 'react'
import { withBasePath } from '../../shared/base-path.ts'
import { runsScript } from '../../shared/external.ts'
import type { Href, LinkTarget } from '../../shared/link-target.ts'
import { RouterContext, ViewContext } from './contexts.ts'
import type { ViewLocation } from './route-view.ts'
import { NO_SITE, viewLocation } from './view-location.ts'

/** When the client router may prefetch a link's route. */
export type Prefetch = 'intent' | 'viewport' | 'render' | 'none'

/**
 * Props of `Link`: those of an anchor, with `href` required.
 * @typeParam To the type of `href`.
 */
export type LinkProps<To extends string = Href> = LinkAttributes & {
  /**
   * A path of the table (see `href()`), to which the base path is added, or any http(s), mailto or tel URL. Script URLs are
   * dropped.
   */
  readonly href: LinkTarget<To>
}

// Neither generic nor an interface: the compiler would make its three hundred members again for each `href`.
type LinkAttributes = Omit<AnchorHTMLAttributes<HTMLAnchorElementLike>, 'href'> & {
  /** When the page is prefetched. Default: `intent`, or `data-prefetch` of the nearest element around it. */
  readonly prefetch?: Prefetch | undefined
  /**
   * Marks the link by `aria-current="page"` while the page on screen is its target: `exact` for that page alone, `below`
   * for the pages below its path too. A link that names search params is marked while the URL has them with its values.
   */
  readonly current?: 'exact' | 'below' | undefined
  /** `false` leaves scroll position and focus where they are. Default: `true`. */
  readonly scroll?: boolean | undefined
  readonly ref?: Ref<HTMLAnchorElementLike> | undefined
}

// The server's program has no DOM types, and needs none of an anchor's.
type HTMLAnchorElementLike = typeof globalThis extends { HTMLAnchorElement: { prototype: infer Element } }
  ? Element
  : object

/**
 * An anchor to another page. Without hooks and context unless it has `current`, so that it costs no more than an anchor.
 * @example
 * ```tsx
 * import { href, Link } from 'millrace'
 *
 * export const link = <Link href={href('/mills/[id]', { id: mill.id })} prefetch="viewport">{mill.name}</Link>
 * ```
 */
export function Link<To extends string>({ href, prefetch, current, scroll, ...rest }: LinkProps<To>): ReactNode {
  const safe = runsScript(href) ? undefined : withBasePath(href)
  if (prefetch === undefined && current === undefined && scroll !== false) return <a {...rest} href={safe} />
  const keepsScroll = scroll === false || undefined
  const attributes = { ...rest, href: safe, 'data-prefetch': prefetch, 'data-keep-scroll': keepsScroll }
  return current === undefined ? <a {...attributes} /> : <CurrentAnchor to={href} {...{ current, attributes }} />
}

interface CurrentAnchorProps {
  /** As the link has it, without the base path. */
  readonly to: string
  readonly current: 'exact' | 'below'
  readonly attributes: AnchorHTMLAttributes<HTMLAnchorElementLike>
}

function CurrentAnchor({ to, current, attributes }: CurrentAnchorProps): ReactNode {
  const view = useContext(ViewContext)
  const router = useContext(RouterContext)
  const isCurrent = view !== null && leadsHere(to, current, viewLocation(view, router))
  return <a {...(isCurrent && { 'aria-current': 'page' })} {...attributes} />
}

function leadsHere(href: string, current: 'exact' | 'below', here: ViewLocation): boolean {
  const { pathname } = here
  const base = NO_SITE + pathname
  if (!URL.canParse(href, base)) return false
  const to = new URL(href, base)
  if (to.origin !== NO_SITE) return false
  const isBelow = current === 'below' && pathname.startsWith(to.pathname.replace(/\/?$/, '/'))
  if (to.pathname !== pathname && !isBelow) return false
  // Without a query of its own the link does not look at the page's, on which the document would then depend.
  if (to.search === '') return true
  const own = new URLSearchParams(here.search)
  return [...to.searchParams].every(([name, value]) => own.getAll(name).includes(value))
}
