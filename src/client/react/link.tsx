import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react'
import { withBasePath } from '../../shared/base-path.ts'
import { runsScript } from '../../shared/external.ts'
import type { Href, LinkTarget } from '../../shared/link-target.ts'

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
  readonly prefetch?: Prefetch
  readonly ref?: Ref<HTMLAnchorElementLike>
}

// The server's program has no DOM types, and needs none of an anchor's.
type HTMLAnchorElementLike = typeof globalThis extends { HTMLAnchorElement: { prototype: infer Element } }
  ? Element
  : object

/** An anchor to another page. Without hooks and context, so that it costs no more than an anchor. */
export function Link<To extends string>({ href, prefetch, ...rest }: LinkProps<To>): ReactNode {
  const safe = runsScript(href) ? undefined : withBasePath(href)
  return prefetch === undefined ? <a {...rest} href={safe} /> : <a {...rest} href={safe} data-prefetch={prefetch} />
}
