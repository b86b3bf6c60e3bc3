import type { Prefetching } from '#client/inspect'
import { Instrument } from './instrument.tsx'

const MOST_ROWS = 50 // a page may have a thousand links in view

/** Props of `PrefetchTable`. */
export interface PrefetchTableProps {
  readonly prefetching: Prefetching
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Prefetches that run, that wait, and targets that are left alone for a while after a failure. */
export function PrefetchTable({ prefetching, now }: PrefetchTableProps) {
  const { jobs, active, blocked, pausedUntil } = prefetching
  const running = [...jobs.values()].filter(({ target }) => active.has(target))
  const queued = [...jobs.values()].filter(({ target }) => !active.has(target))
  const resting = [...blocked].filter(([, until]) => until > now)
  const rows = [
    ...running.map(({ target, priority, phase }) => ({ target, priority, phase: String(phase) })),
    ...resting.map(([target, until]) => ({
      target,
      priority: 'none',
      phase: `blocked for ${secondsUntil(until, now)}`,
    })),
    ...queued.map(({ target, priority, phase }) => ({ target, priority, phase: String(phase) })),
  ]
  const pause = pausedUntil > now ? `Paused for ${secondsUntil(pausedUntil, now)}.` : 'Not paused.'
  const rest = rows.length > MOST_ROWS ? ` The first ${MOST_ROWS} are shown.` : ''
  return (
    <Instrument
      testId="queue"
      title="Prefetches"
      note={`${running.length} running, ${queued.length} queued, ${resting.length} blocked. ${pause}${rest}`}
      columns={['Target', 'Priority', 'Phase']}
      empty="Nothing is being fetched ahead."
    >
      {rows.slice(0, MOST_ROWS).map(({ target, priority, phase }) => (
        <tr key={`${target} ${priority}`}>
          <td>
            <code>{target}</code>
          </td>
          <td>{priority}</td>
          <td>{phase}</td>
        </tr>
      ))}
    </Instrument>
  )
}

function secondsUntil(time: number, now: number): string {
  return `${Math.ceil((time - now) / 1000)} s`
}
