import { Link as RouterLink } from 'react-router'

/** What the reference application's pages know as `Link`. */
export function Link({ href, prefetch, children }) {
  return (
    <RouterLink to={href} prefetch={prefetch}>
      {children}
    </RouterLink>
  )
}

/** The pages mark what no table can check. */
export const external = (href) => href
