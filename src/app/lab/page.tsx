import { LAB_GROUPS } from './catalogue.ts'
import { EventTicker } from './events/event-ticker.tsx'
import { LabCard } from './lab-card.tsx'
import styles from './page.module.css'

export const metadata = {
  title: 'Lab',
  description: 'Small pages that each show one thing that Millrace does, with what to look for.',
}

/** The overview of the lab: a card and a link for every page of it. */
export default function LabPage() {
  return (
    <>
      <header className={styles['intro']}>
        <h1>Lab</h1>
        <p>
          Small pages that each show one thing that Millrace does. Open one, watch the address, the status and the
          network, and compare with what the card says. Pages that need JavaScript say so on their card.
        </p>
        <nav aria-label="Groups" className={styles['groups']}>
          <ul>
            {LAB_GROUPS.map(({ id, title }) => (
              <li key={id}>
                <a href={`#${id}`}>{title}</a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      {LAB_GROUPS.map(({ id, title, prefetch, entries }) => (
        <section key={id} aria-labelledby={id} className={styles['group']}>
          <h2 id={id}>{title}</h2>
          <div>
            <ul className={styles['cards']}>
              {entries.map((entry) => (
                <li key={entry.href}>
                  <LabCard entry={entry} prefetch={prefetch} />
                </li>
              ))}
            </ul>
            {id === 'resources' ? <EventTicker /> : null}
          </div>
        </section>
      ))}
    </>
  )
}
