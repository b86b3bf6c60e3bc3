import { Link } from 'millrace'

export const metadata = { title: 'No access' }

/** For visitors who are signed in and may not see the page. */
export default function ForbiddenPage() {
  return (
    <>
      <h1>No access</h1>
      <p>Your account may not see this page.</p>
      <p>
        <Link href="/">Go to the home page</Link>
      </p>
    </>
  )
}
