import type { RouteTable } from '../../shared/route-table.ts'
import { ConfigError } from './config.ts'

/**
 * Looks whether the relay would stand in front of a route that has this very path: nobody could reach it any more. One of
 * the many paths of a pattern may be the relay's.
 * @throws {ConfigError} that names the route.
 */
export function checkTunnelPath(path: string, table: Pick<RouteTable, 'match'>): void {
  const match = table.match(path)
  if (match === undefined || match.error !== undefined) return
  if (Object.values(match.params).some((value) => value !== undefined && value.length > 0)) return
  const fault = `${JSON.stringify(path)} is refused: expected a path that no route of the application has`
  throw new ConfigError('REPORT_TUNNEL_PATH', `${fault}; it is that of ${match.route.key}`)
}
