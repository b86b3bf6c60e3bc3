import type { ErrorProps } from 'millrace'

export const metadata = { title: 'Something went wrong' }

export default function ErrorPage({ digest, retry }: ErrorProps) {
  return (
    <>
      <h1>Something went wrong</h1>
      {digest === undefined ? null : <p>{`The server's log has this failure under ${digest}.`}</p>}
      <button type="button" onClick={retry}>
        Try again
      </button>
    </>
  )
}
