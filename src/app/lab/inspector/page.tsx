import { useEffect, useState } from 'react'
import { inspectorTables, useInsight } from 'millrace/inspect'
import { Experiment } from '../experiment.tsx'
import { SeeAlso } from '../see-also.tsx'
import { Instrument } from './instrument.tsx'

export const metadata = { title: 'Inspector' }

const TICK_MS = 1_000 // ages are shown in whole seconds

const LINKS = [
  { href: '/lab/cache/1', label: 'Reused data' },
  { href: '/lab/slow/1000', label: 'A slow loader' },
  { href: '/lab/stream?delay=1000', label: 'Streaming' },
]

/** What the client router knows and does, as it is at this moment. */
export default function InspectorPage() {
  return (
    <Experiment
      title="Inspector"
      pattern="/lab/inspector"
      lede="What the client router of this tab knows, fetches and has done. Point at the links below and watch; then visit one and come back."
    >
      <SeeAlso label="Try" links={LINKS} />
      <Instruments />
    </Experiment>
  )
}

function Instruments() {
  const insight = useInsight()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  if (insight === undefined) {
    return <p>The client router lives in the browser, so this page needs JavaScript. Its tables come once that runs.</p>
  }
  return inspectorTables(insight, now).map((table) => <Instrument key={table.id} table={table} />)
}
