import Forbidden from './forbidden.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = { title: 'Forbidden · Millrace' }

/** The fallback of `forbidden()` outside of all layouts. */
export default function RootForbidden() {
  return (
    <Chrome>
      <Forbidden />
    </Chrome>
  )
}
