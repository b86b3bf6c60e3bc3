export const metadata = { title: 'Redirect' }

/** Never seen: the loader of each URL that uses it has already left for another. */
export default function GonePage() {
  return <p>This page should have sent you on.</p>
}
