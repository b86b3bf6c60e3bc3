import { Link } from 'millrace'
import { Fallback } from './fallback.tsx'

export const metadata = { title: 'Unauthorized' }

/** The fallback of `unauthorized()`. */
export default function Unauthorized() {
  return (
    <Fallback status="401" title="Unauthorized">
      Sign in to see this page. In the lab, <Link href="/lab/session">the page “Session”</Link> does that with one
      button.
    </Fallback>
  )
}
