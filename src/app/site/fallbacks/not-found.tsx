import { Fallback } from './fallback.tsx'

export const metadata = { title: 'Not found' }

/** The fallback of `notFound()`. */
export default function NotFound() {
  return (
    <Fallback status="404" title="Not found">
      There is no page at this address. It may have moved, or the link may be mistyped.
    </Fallback>
  )
}
