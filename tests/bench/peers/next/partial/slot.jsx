import { cookies } from 'next/headers'
import { Suspense } from 'react'

/** The one part of a page that belongs to the visitor, as that of the reference application. */
export function Slot() {
  return (
    <Suspense fallback={<p>…</p>}>
      <Name />
    </Suspense>
  )
}

async function Name() {
  const name = (await cookies()).get('visitor')?.value
  return <p data-testid="visitor">{name ?? 'nobody'}</p>
}
