import Unauthorized from './unauthorized.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = { title: 'Unauthorized · Millrace' }

/** The fallback of `unauthorized()` where no layout is left to stand in. */
export default function RootUnauthorized() {
  return (
    <Chrome>
      <Unauthorized />
    </Chrome>
  )
}
