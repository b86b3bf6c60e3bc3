import { Link } from 'millrace'

export const metadata = { title: 'Not found' }

export default function NotFoundPage() {
  return (
    <>
      <h1>Not found</h1>
      <p>There is no page at this address.</p>
      <p>
        <Link href="/">Go to the home page</Link>
      </p>
    </>
  )
}
