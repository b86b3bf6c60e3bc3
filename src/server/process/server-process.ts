import type { Config } from '../config/config.ts'
import type { LogDestination } from './gathered-log.ts'

/** What a process of the server has from its first moment, whatever part it plays. */
export interface ServerProcess {
  readonly config: Config
  /** Where its log goes. */
  readonly destination: LogDestination
  /** A line on stdout for a person, behind all that is logged. */
  readonly announce: (line: string) => void
  /** A line on stderr for a person. */
  readonly complain: (line: string) => void
  /** Writes what is gathered of the log, and ends the process. */
  readonly leave: (code: number) => never
}
