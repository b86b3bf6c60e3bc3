import { Link } from 'millrace'

export default function HomePage() {
  return (
    <>
      <h1>APP_NAME</h1>
      <p>
        This page is <code>src/app/home-page.tsx</code>. Change it and save: <code>npm run dev</code> shows the change.
      </p>
      <p>
        <Link href="/mills/1">A page with data</Link>, <Link href="/guestbook">a page with a form</Link>, and{' '}
        <Link href="/mills/99">one that is not there</Link>.
      </p>
    </>
  )
}
