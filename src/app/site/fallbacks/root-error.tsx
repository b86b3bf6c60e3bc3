import type { ErrorProps } from 'millrace'
import ErrorFallback, { metadata as ofError } from './error.tsx'
import { Chrome } from './chrome.tsx'

export const metadata = (props: Partial<ErrorProps>) => ({ title: `${ofError(props).title} · Millrace` })

/** The error page outside of all layouts. */
export default function RootErrorFallback(props: ErrorProps) {
  return (
    <Chrome>
      <ErrorFallback {...props} />
    </Chrome>
  )
}
