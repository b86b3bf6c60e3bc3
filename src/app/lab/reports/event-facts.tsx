import type { PageProps } from 'millrace'
import { Moment } from './moment.tsx'
import styles from './event-facts.module.css'

type Details = PageProps<'/lab/reports/[id]', typeof import('./details.server.ts')>['data']

/** Props of `EventFacts`. */
export interface EventFactsProps {
  readonly event: Details['event']
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Facts with their names; what is not known is left out. */
export function EventFacts({ event, receivedAt, now }: EventFactsProps) {
  const facts: readonly (readonly [string, string, string | undefined])[] = [
    ['digest', 'Digest', event.digest],
    ['side', 'Side', event.side],
    ['level', 'Level', event.level],
    ['route', 'Route', event.route],
    ['url', 'URL', event.url],
    ['release', 'Release', event.release],
    ['environment', 'Environment', event.environment],
    ['trace', 'Trace', event.trace],
    ['event', 'Event', event.eventId || undefined],
  ]
  return (
    <dl className={styles['facts']}>
      <div>
        <dt>Received</dt>
        <dd>
          <Moment at={receivedAt} /> (<Moment at={receivedAt} now={now} />)
        </dd>
      </div>
      {event.at === undefined ? null : (
        <div>
          <dt>Happened</dt>
          <dd>
            <Moment at={event.at} />
          </dd>
        </div>
      )}
      {facts.map(([name, label, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{label}</dt>
            <dd data-testid={`report-${name}`}>{value}</dd>
          </div>
        ),
      )}
      {event.tags
        .filter(([name]) => name !== 'digest')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
