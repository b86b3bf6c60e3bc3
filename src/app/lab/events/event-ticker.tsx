import { useEvents } from 'millrace'
import { useState } from 'react'
import styles from './event-ticker.module.css'

const MOST_CARDS = 6

/** Listens to `/lab/events` on demand and shows the last ticks as cards. Needs JavaScript, and says so. */
export function EventTicker() {
  const [listening, setListening] = useState(false)
  const [ticks, setTicks] = useState<readonly number[]>([])

  useEvents(listening ? '/lab/events' : undefined, {
    tick: ({ tick }: { readonly tick: number }) => setTicks((shown) => [tick, ...shown].slice(0, MOST_CARDS)),
  })

  function toggle(): void {
    if (!listening) setTicks([])
    setListening(!listening)
  }

  return (
    <div className={styles['ticker']}>
      <noscript>
        <p>The live view of the event stream needs JavaScript. The stream itself does not: follow the link above.</p>
      </noscript>
      <div>
        <button type="button" data-testid="listen" onClick={toggle}>
          {listening ? 'Stop listening' : 'Listen to the event stream'}
        </button>
      </div>
      <ol className={styles['ticks']} aria-label="Last events">
        {ticks.map((tick) => (
          <li key={tick} data-testid="tick">
            {`tick ${tick}`}
          </li>
        ))}
      </ol>
    </div>
  )
}
