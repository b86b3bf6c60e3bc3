import { hash } from 'node:crypto'
import { isRuntimePath, RUNTIME_PREFIX } from '../../shared/runtime-paths.ts'

const PREFIX = `${RUNTIME_PREFIX}reports/`

/**
 * The relay's path where none is configured. It says nothing that lists of blocked words know, and differs from site to
 * site.
 * @param dsn `''` for the inbox.
 */
export function derivedTunnelPath(dsn: string): string {
  return PREFIX + hash('sha256', dsn || 'inbox', 'hex').slice(0, 8)
}

/** Whether the relay may have a path: of the runtime's own URLs, only those kept for it. `''` is none, and may be. */
export function isTunnelPath(path: string): boolean {
  return !isRuntimePath(path) || path.startsWith(PREFIX)
}
