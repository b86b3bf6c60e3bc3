import Forbidden from './forbidden.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = { title: 'Forbidden · Millrace' }

/** The fallback of `forbidden()` where no layout is left to stand in. */
export default function RootForbidden() {
  return (
    <Chrome>
      <Forbidden />
    </Chrome>
  )
}
