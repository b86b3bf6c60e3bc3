import { Link } from 'millrace'

export const metadata = { title: 'Not signed in' }

/** For visitors who are not signed in. Put your form or a link to it here. */
export default function UnauthorizedPage() {
  return (
    <>
      <h1>Not signed in</h1>
      <p>Sign in to see this page.</p>
      <p>
        <Link href="/">Go to the home page</Link>
      </p>
    </>
  )
}
