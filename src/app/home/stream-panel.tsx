import { Suspense, use, useEffect, useRef, useState } from 'react'
import { useServerInsertedHTML, withBasePath } from 'millrace'
import type { Rest } from './loader.server.ts'
import styles from './stream-panel.module.css'

/** Props of `StreamPanel`. */
export interface StreamPanelProps {
  /** A promise if this answer is streamed. */
  readonly rest: Rest | Promise<Rest>
  /** When the loader began, in ms since the epoch; `undefined` if nothing is streamed. */
  readonly startedAt: number | undefined
}

const WHY_WHOLE: Readonly<Record<'crawler' | 'prefetch' | 'load', string>> = {
  crawler: 'crawlers get it without waiting',
  prefetch: 'your browser had prefetched it',
  load: 'too many visitors are watching the stream',
}

/**
 * The stream of this page, live. The server writes into the document when it sent the shell, and when the rest was ready.
 * Neither needs a script.
 */
export function StreamPanel({ rest, startedAt }: StreamPanelProps) {
  const isTimed = useRef(false)
  // Called when the first part of the document is sent. Not hydrated, so the browser need not know the time.
  useServerInsertedHTML(() => {
    if (isTimed.current || startedAt === undefined) return null
    isTimed.current = true
    return <style>{`:root{--shell-sent:"${Math.max(0, Date.now() - startedAt)} ms"}`}</style>
  })
  return (
    <section aria-labelledby="stream" className={styles['panel']}>
      <h2 id="stream">
        <code>GET /</code> <span>This page, from this server</span>
      </h2>
      <ul className={styles['parts']}>
        <li className={styles['row']}>
          <span className={styles['name']}>Shell</span>
          <span className={styles['sent']} />
          <span aria-hidden="true" className={styles['track']}>
            <span className={styles['shell']} />
          </span>
        </li>
        <li className={styles['rest']}>
          <Suspense fallback={<RestRow state="pending" text="waits" />}>
            {rest instanceof Promise ? <Arrived rest={rest} /> : <RestOf rest={rest} />}
          </Suspense>
        </li>
      </ul>
      <p className={styles['axis']} aria-hidden="true">
        <span>0</span>
        <span>500</span>
        <span>1,000 ms</span>
      </p>
      <p className={styles['words']}>
        {'without' in rest
          ? `This page was sent as a whole: ${WHY_WHOLE[rest.without]}.`
          : 'Everything on this page except the last bar was in the first part of this response, the shell. The server makes the rest wait for a second, and sends it in the same response.'}
      </p>
      {startedAt === undefined ? null : <BrowserTimes />}
      <p>
        <a className="button button-quiet" href={withBasePath('/')} rel="external">
          Stream it again
        </a>
      </p>
    </section>
  )
}

function Arrived({ rest }: { readonly rest: Promise<Rest> }) {
  return <RestOf rest={use(rest)} />
}

function RestOf({ rest }: { readonly rest: Rest }) {
  return 'ms' in rest ? (
    <RestRow state="arrived" text={`${rest.ms.toLocaleString('en')} ms`} />
  ) : (
    <RestRow state="whole" text="with the shell" />
  )
}

function RestRow({ state, text }: { readonly state: 'pending' | 'arrived' | 'whole'; readonly text: string }) {
  return (
    <div className={styles['row']} data-state={state}>
      <span className={styles['name']}>Rest</span>
      <span data-testid="rest">{text}</span>
      <span aria-hidden="true" className={styles['track']}>
        <span className={styles['bar']} />
      </span>
    </div>
  )
}

/** What the browser has measured of this document, once it is complete. */
function BrowserTimes() {
  const [text, setText] = useState('')
  useEffect(() => {
    const measure = (): void => {
      const [entry] = performance.getEntriesByType('navigation')
      if (!(entry instanceof PerformanceNavigationTiming) || new URL(entry.name).pathname !== location.pathname) return
      const [first, last] = [entry.responseStart, entry.responseEnd].map((at) =>
        Math.round(at - entry.requestStart).toLocaleString('en'),
      )
      setText(`Your browser got the first byte after ${first} ms, and the last after ${last} ms.`)
    }
    if (document.readyState === 'complete') return measure()
    addEventListener('load', measure, { once: true })
    return () => removeEventListener('load', measure)
  }, [])
  return (
    <p className={styles['measured']} data-testid="browser-times">
      {text}
    </p>
  )
}
