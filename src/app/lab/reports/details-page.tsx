import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { SeeAlso } from '../see-also.tsx'
import { Badges } from './badges.tsx'
import { EventFacts } from './event-facts.tsx'
import { ItemList } from './item-list.tsx'
import { Moment } from './moment.tsx'
import { Stack } from './stack.tsx'
import styles from './details-page.module.css'

type Props = PageProps<'/lab/reports/[id]', typeof import('./details.server.ts')>

export const metadata = ({ data }: Props) => ({ title: `Report: ${data.event.title}`, robots: 'noindex' })

/** One failure: an event of it, its stack, and what else belongs to it. */
export default function ReportPage({ data }: Props) {
  const { group, item, event, envelope, items, trace, now } = data
  return (
    <Experiment
      title="Error report"
      pattern="/lab/reports/[id]"
      lede={
        group.count === 1
          ? 'It has been reported once.'
          : `It has been reported ${group.count.toLocaleString('en')} times.`
      }
    >
      <p data-testid="report-title" className={styles['title']}>
        {event.title}
      </p>
      <Badges level={event.level} sides={group.sides} releases={group.releases} />
      {group.count === 1 ? null : (
        <p>
          First seen <Moment at={group.firstAt} now={now} />, last <Moment at={group.lastAt} now={now} />.
        </p>
      )}
      {event.exceptions.toReversed().map((exception, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- they have no name, and their order never changes
        <Stack
          key={at}
          exception={exception}
          title={event.title}
          heading={at === 0 ? 'Where it happened' : 'Caused by'}
        />
      ))}
      <EventFacts event={event} receivedAt={item.receivedAt} now={now} />
      {trace.length === 0 ? null : (
        <ItemList testId="report-trace-items" title="Of the same trace" items={trace} current={item.id} now={now} />
      )}
      {items.length < 2 ? null : (
        <ItemList testId="report-items" title="Newest events" items={items} current={item.id} now={now} />
      )}
      <p>
        {/* A plain link: the answer is a file. */}
        <a href={`/lab/reports/envelopes/${envelope}`} download={`${envelope}.envelope`} data-testid="report-envelope">
          Save the envelope as it was received
        </a>
      </p>
      <SeeAlso label="More" links={[{ href: '/lab/reports', label: 'all reports' }]} />
    </Experiment>
  )
}
