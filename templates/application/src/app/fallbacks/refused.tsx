export const metadata = { title: 'Not allowed' }

/** For visitors who are not signed in (401), and for those who are and may not see the page (403). */
export default function RefusedPage() {
  return (
    <>
      <h1>Not allowed</h1>
      <p>You may not see this page.</p>
    </>
  )
}
