import NotFound from './not-found.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = { title: 'Not found · Millrace' }

/** The fallback of `notFound()` outside of all layouts. */
export default function RootNotFound() {
  return (
    <Chrome>
      <NotFound />
    </Chrome>
  )
}
