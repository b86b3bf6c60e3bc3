import { entryState, type CacheEntry } from '#client/inspect'
import { Instrument } from './instrument.tsx'

const inSeconds = (milliseconds: number): string => `${Math.max(0, Math.floor(milliseconds / 1000))} s`

/** Props of `EntryTable`. */
export interface EntryTableProps {
  /** By key; least recently used first. */
  readonly entries: ReadonlyMap<string, CacheEntry>
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The route cache: what is kept, and how it could be used now. The most recently used entry comes first. */
export function EntryTable({ entries, now }: EntryTableProps) {
  return (
    <Instrument
      testId="entries"
      title="Route cache"
      columns={['State', 'Key', 'Age', 'Lifetime', 'Characters', 'Tags']}
      empty="Nothing is kept."
    >
      {[...entries].toReversed().map(([key, entry]) => (
        <tr key={key}>
          <td>{entryState(entry, now)}</td>
          <td>
            <code>{key}</code>
          </td>
          <td>{inSeconds(now - entry.receivedAt)}</td>
          <td>{inSeconds(entry.lifetimeMs)}</td>
          <td>{entry.size.toLocaleString('en')}</td>
          <td>{entry.tags.length === 0 ? 'none' : entry.tags.join(', ')}</td>
        </tr>
      ))}
    </Instrument>
  )
}
