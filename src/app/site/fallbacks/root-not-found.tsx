import NotFound from './not-found.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = { title: 'Not found · Millrace' }

/** The fallback of `notFound()` where no layout is left to stand in. */
export default function RootNotFound() {
  return (
    <Chrome>
      <NotFound />
    </Chrome>
  )
}
