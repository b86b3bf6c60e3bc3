import { Link } from 'millrace'

export const metadata = { title: 'Not found' }

/** For what does not exist (404), and for what belongs to somebody else (403). */
export default function RefusedPage() {
  return (
    <section className="narrow">
      <h1>Not found</h1>
      <p>
        There is nothing here, or it is not yours. <Link href="/">All articles</Link>
      </p>
    </section>
  )
}
