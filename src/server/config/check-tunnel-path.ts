import type { RouteTable } from '../../shared/route-table.ts'
import { ConfigError } from './config.ts'

/**
 * Checks that the relay's path does not hide a route with the same path. A pattern may lose one of its many paths to
 * the relay.
 * @throws {ConfigError} that names the route.
 */
export function checkTunnelPath(path: string, table: Pick<RouteTable, 'match'>): void {
  const match = table.match(path)
  if (match === undefined || match.error !== undefined) return
  if (Object.values(match.params).some((value) => value !== undefined && value.length > 0)) return
  const fault = `${JSON.stringify(path)} is refused: expected a path that no route of the application has`
  throw new ConfigError('REPORT_TUNNEL_PATH', `${fault}; it is that of ${match.route.key}`)
}
