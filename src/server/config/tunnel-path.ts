import { hash } from 'node:crypto'
import { isRuntimePath, RUNTIME_PREFIX } from '../../shared/runtime-paths.ts'

const PREFIX = `${RUNTIME_PREFIX}reports/`

/**
 * The default path of the relay. It contains no word that blocklists know, and differs from site to site.
 * @param dsn `''` for the inbox.
 */
export function derivedTunnelPath(dsn: string): string {
  return PREFIX + hash('sha256', dsn || 'inbox', 'hex').slice(0, 8)
}

/**
 * Whether a path is allowed for the relay: of the runtime's own URLs, only those reserved for it. `''` (none) is
 * allowed.
 */
export function isTunnelPath(path: string): boolean {
  return !isRuntimePath(path) || path.startsWith(PREFIX)
}
