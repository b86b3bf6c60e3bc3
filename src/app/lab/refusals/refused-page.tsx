export const metadata = { title: 'Refused' }

/** Never seen: the loader of each URL that uses it has already refused. */
export default function RefusedPage() {
  return <p>This page should have been refused.</p>
}
