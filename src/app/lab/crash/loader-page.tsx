export const metadata = { title: 'A failing loader' }

/** Never seen: its loader always fails. */
export default function FailingLoaderPage() {
  return <p>This page should have failed.</p>
}
