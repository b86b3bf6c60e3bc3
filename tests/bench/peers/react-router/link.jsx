import { Link as RouterLink } from 'react-router'

/** What the reference application's pages know as `Link`. */
export function Link({ href, prefetch, children }) {
  return (
    <RouterLink to={href} prefetch={prefetch}>
      {children}
    </RouterLink>
  )
}
