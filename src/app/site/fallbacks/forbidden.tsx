import { Fallback } from './fallback.tsx'

export const metadata = { title: 'Forbidden' }

/** The fallback of `forbidden()`. */
export default function Forbidden() {
  return (
    <Fallback status="403" title="Forbidden">
      You are signed in, but this page is not for your account. Sign in with another account, or ask its owner for
      access.
    </Fallback>
  )
}
