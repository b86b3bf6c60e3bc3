import { Suspense, use } from 'react'

/** What the slot of a page gets. */
export interface SlotData {
  readonly visitor: Promise<{ readonly name: string }>
}

/** The one part of a page that belongs to the visitor. */
export function Slot({ visitor }: SlotData) {
  return (
    <Suspense fallback={<p>…</p>}>
      <Name visitor={visitor} />
    </Suspense>
  )
}

function Name({ visitor }: SlotData) {
  return <p data-testid="visitor">{use(visitor).name}</p>
}
