import type { Config } from '../config/config.ts'
import type { LogDestination } from './gathered-log.ts'

/** What every process of the server has from its start, workers and primary alike. */
export interface ServerProcess {
  readonly config: Config
  readonly destination: LogDestination
  /** Writes a line for a person to stdout, after everything that was logged before. */
  readonly announce: (line: string) => void
  /** Writes a line for a person to stderr. */
  readonly complain: (line: string) => void
  /** Flushes the log, and ends the process. */
  readonly leave: (code: number) => never
}
