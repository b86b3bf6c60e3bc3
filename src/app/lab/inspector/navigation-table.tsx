import type { NavigationRecord } from '#client/inspect'
import { Instrument } from './instrument.tsx'
import styles from './inspector.module.css'

/** Navigations of this document, the last one first, on a common scale. */
export function NavigationTable({ navigations }: { readonly navigations: readonly NavigationRecord[] }) {
  const durations = navigations.map(({ startedAt, readyAt, endedAt }) => (endedAt ?? readyAt ?? startedAt) - startedAt)
  const longest = Math.max(1, ...durations)
  return (
    <Instrument
      testId="navigations"
      title="Navigations"
      note="The first bar is the time until data, code and styles were there; the second is React's, up to the new page on the screen."
      columns={['From', 'To', 'Kind', 'End', 'Time line']}
      empty="This page came as a document, and no navigation has begun since."
    >
      {navigations.toReversed().map((navigation) => (
        <tr key={navigation.id}>
          <td>
            <code>{navigation.from}</code>
          </td>
          <td>
            <code>{navigation.to}</code>
          </td>
          <td>{navigation.kind}</td>
          <td>{navigation.end ?? 'under way'}</td>
          <td>
            <TimeLine navigation={navigation} longest={longest} />
          </td>
        </tr>
      ))}
    </Instrument>
  )
}

interface TimeLineProps {
  readonly navigation: NavigationRecord
  /** Milliseconds that the whole width stands for. */
  readonly longest: number
}

function TimeLine({ navigation, longest }: TimeLineProps) {
  const { startedAt, readyAt, endedAt, end } = navigation
  const readyMs = (readyAt ?? endedAt ?? startedAt) - startedAt
  const commitMs = readyAt === undefined || endedAt === undefined ? 0 : endedAt - readyAt
  const width = (milliseconds: number) => ({ width: `${(100 * milliseconds) / longest}%` })
  const parts = [
    ...(readyAt === undefined ? [] : [`ready ${readyMs} ms`]),
    ...(readyAt === undefined || endedAt === undefined ? [] : [`${end ?? 'end'} +${commitMs} ms`]),
    ...(readyAt === undefined && endedAt !== undefined ? [`${end ?? 'end'} after ${readyMs} ms`] : []),
  ]
  return (
    <>
      <span className={styles['bars']} aria-hidden="true">
        <span className={styles['ready']} style={width(readyMs)} />
        <span className={styles['commit']} style={width(commitMs)} />
      </span>
      {parts.length === 0 ? 'under way' : parts.join(', ')}
    </>
  )
}
