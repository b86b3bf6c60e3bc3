export const metadata = { title: 'Not found' }

/** Also for visitors who are not signed in (401), and for those who are and may not see the page (403). */
export default function NotFoundPage() {
  return (
    <>
      <h1>Not found</h1>
      <p>There is no page at this address, or you may not see it.</p>
    </>
  )
}
