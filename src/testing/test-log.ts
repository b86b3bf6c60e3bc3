import { pino, type Logger } from 'pino'

/** One line of the log, parsed: pino's `level` and `msg`, and what the line adds. */
export type LogEntry = Readonly<Record<string, unknown>>

const MOST_ENTRIES = 10_000 // a test that looks at the log looks at the last ones

/** A logger that prints nothing and keeps its last 10,000 lines. */
export function createTestLog(): { readonly log: Logger; readonly entries: readonly LogEntry[] } {
  const entries: LogEntry[] = []
  const write = (line: string): void => {
    entries.push(JSON.parse(line) as LogEntry)
    if (entries.length > MOST_ENTRIES) entries.shift()
  }
  return { log: pino({ level: 'trace', base: null }, { write }), entries }
}
