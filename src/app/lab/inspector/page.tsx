import { Inspector } from 'millrace/inspect'
import { Experiment } from '../experiment.tsx'
import { SeeAlso } from '../see-also.tsx'
import styles from './page.module.css'

export const metadata = { title: 'Inspector' }

const LINKS = [
  { href: '/lab/cache/1', label: 'Reused data' },
  { href: '/lab/slow/1000', label: 'A slow loader' },
  { href: '/lab/stream?delay=1000', label: 'Streaming' },
  { href: '/lab/guestbook', label: 'An action' },
]

/** The tables of the development panel, in production. */
export default function InspectorPage() {
  return (
    <Experiment
      title="Inspector"
      pattern="/lab/inspector"
      isWide
      lede="The state of the client router in this tab: cached data, requests and navigations. Point at the links below and watch; then visit one and come back."
    >
      <SeeAlso label="Try" links={LINKS} />
      <div className={styles['tables']}>
        <Inspector>
          <p>The client router lives in the browser, so this page needs JavaScript.</p>
        </Inspector>
      </div>
    </Experiment>
  )
}
