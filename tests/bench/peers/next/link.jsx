import NextLink from 'next/link'

/** What the reference application's pages know as `Link`. A link in view is fetched ahead unless told otherwise. */
export function Link({ href, children }) {
  return <NextLink href={href}>{children}</NextLink>
}

/** The pages mark what no table can check. */
export const external = (href) => href
