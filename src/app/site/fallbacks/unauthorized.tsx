import { Fallback } from './fallback.tsx'

export const metadata = { title: 'Unauthorized' }

/** The fallback of `unauthorized()`. */
export default function Unauthorized() {
  return (
    <Fallback status="401" title="Unauthorized">
      This page is only shown to visitors who have signed in.
    </Fallback>
  )
}
