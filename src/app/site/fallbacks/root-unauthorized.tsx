import Unauthorized from './unauthorized.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = { title: 'Unauthorized · Millrace' }

/** The fallback of `unauthorized()` outside of all layouts. */
export default function RootUnauthorized() {
  return (
    <Chrome>
      <Unauthorized />
    </Chrome>
  )
}
