import { Fallback } from './fallback.tsx'

export const metadata = { title: 'Forbidden' }

/** The fallback of `forbidden()`. */
export default function Forbidden() {
  return (
    <Fallback status="403" title="Forbidden">
      You are known here, and still not allowed to see this page.
    </Fallback>
  )
}
