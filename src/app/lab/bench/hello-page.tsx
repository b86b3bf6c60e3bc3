export const metadata = { title: 'Hello' }

/** The smallest page there is. */
export default function HelloPage() {
  return <h1>Hello</h1>
}
