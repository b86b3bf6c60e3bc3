import { Link } from 'millrace'

/** A heading, and a link to follow. */
export default function SmallestPage() {
  return (
    <main>
      <h1>Smallest</h1>
      <Link href="/">Here</Link>
    </main>
  )
}
