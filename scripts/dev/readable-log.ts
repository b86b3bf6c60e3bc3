import type { ThrownError } from './dev-failures.ts'

/** A line of the server's log. */
export interface LogLine {
  /** pino's: 30 is info, 50 is error. */
  readonly level: number
  readonly msg?: string
  readonly err?: ThrownError
  readonly method?: string
  readonly route?: string
  readonly status?: number
  readonly durationMs?: number
}

const ERROR = 50
const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** @returns `undefined` for any other line, which is printed unchanged. */
export function parseLogLine(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const parsed: unknown = JSON.parse(line)
    return typeof parsed === 'object' && parsed !== null && 'level' in parsed ? (parsed as LogLine) : undefined
  } catch {
    return undefined
  }
}

/** The error of a line that a developer has to see. */
export function errorOf({ level, err }: LogLine): ThrownError | undefined {
  return level >= ERROR ? err : undefined
}

/** A readable log line. */
export function readableLine({ level, msg, err, method, route, status, durationMs }: LogLine): string {
  const request = method === undefined ? [] : [method, route ?? '', String(status ?? ''), `${durationMs ?? '?'} ms`]
  const said = [...request, ...(msg === undefined ? [] : [msg])].join(' ')
  const line = `${(LEVELS[level] ?? String(level)).padEnd(5)} ${said}`
  return err === undefined ? line : `${line}\n${err.stack ?? err.message ?? ''}`
}
