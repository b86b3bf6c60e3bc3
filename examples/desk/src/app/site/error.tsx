import type { ErrorProps } from 'millrace'
import { titled, useWords } from '../words.ts'

export const metadata = titled((words) => words.error)

export default function ErrorPage({ reason, status, digest, retry }: ErrorProps) {
  const words = useWords()
  const title = reason === 'offline' ? words.offline : status === 503 ? words.unavailable : words.error
  return (
    <section className="narrow items-center py-16">
      <h1>{title}</h1>
      {digest}
      <button type="button" className="button" onClick={retry}>
        {words.again}
      </button>
    </section>
  )
}
