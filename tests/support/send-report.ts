import { randomUUID } from 'node:crypto'
import { INBOX_DSN } from '../../src/server/config/dsn.ts'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'

/**
 * Sends an event to the relay of a server without an error service, as the browser's SDK does.
 * @throws {Error} if it was not accepted.
 */
export async function sendReport(origin: string, event: object): Promise<void> {
  const lines = [{ event_id: randomUUID().replaceAll('-', ''), dsn: INBOX_DSN }, { type: 'event' }, event]
  const body = lines.map((line) => JSON.stringify(line)).join('\n')
  const { status } = await fetch(origin + derivedTunnelPath(''), { method: 'POST', body })
  if (status !== 200) throw new Error(`The relay answered with ${status}`)
}
