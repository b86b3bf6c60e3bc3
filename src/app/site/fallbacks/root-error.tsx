import type { ErrorProps } from '#client'
import ErrorFallback from './error.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = { title: 'Application error · Millrace' }

/** The error page where no layout is left to stand in. */
export default function RootErrorFallback(props: ErrorProps) {
  return (
    <Chrome>
      <ErrorFallback {...props} />
    </Chrome>
  )
}
