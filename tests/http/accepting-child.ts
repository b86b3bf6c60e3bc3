/**
 * A process that accepts envelopes as fast as it can and delivers them meanwhile. Says of each, once it is accepted, its
 * event id on a line of stdout; then ends when all is delivered.
 *
 *     node accepting-child.ts <data folder> <DSN> <two hexadecimal digits> <how many>
 */
import { writeSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { createDeliveryLease } from '../../src/server/reports/delivery/delivery-lease.ts'
import { isOwnerGone, nameOwner } from '../../src/server/reports/delivery/delivery-owner.ts'
import { startDrainer } from '../../src/server/reports/delivery/drainer.ts'
import { parseDsn } from '../../src/server/config/dsn.ts'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { createRateLimitState } from '../../src/server/reports/delivery/rate-limit-state.ts'
import { openReportDatabase } from '../../src/server/reports/report-database.ts'
import { createSpool } from '../../src/server/reports/spool/spool-store.ts'
import { createUpstream } from '../../src/server/reports/delivery/upstream.ts'

const CLIENTS = 5
const A_TURN = 8 // accepted before anything else may happen

const [, , dataDir = '', dsnText = '', prefix = '', count = '0'] = process.argv
const dsn = parseDsn(dsnText)
if (dsn === undefined) throw new Error(`No DSN: ${dsnText}`)

const destination = 'service'
const database = openReportDatabase(dataDir)
const spool = createSpool(database, { destination })
const upstream = createUpstream(dsn)
const owner = nameOwner(crypto.randomUUID())
const drainer = startDrainer({
  spool,
  lease: createDeliveryLease(database, { destination, owner, isGone: isOwnerGone }),
  upstream,
  limits: createRateLimitState(),
  log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never,
  clock: {
    now: Date.now,
    after(milliseconds, run) {
      const timer = setTimeout(run, milliseconds)
      return () => clearTimeout(timer)
    },
  },
  random: Math.random,
})

for (let at = 0; at < Number(count); at += 1) {
  const eventId = `${prefix}${String(at).padStart(30, '0')}`
  const payload = Buffer.from(JSON.stringify({ event_id: eventId, message: 'x'.repeat(2_000) }))
  spool.accept({
    receivedAt: Date.now(),
    client: `client ${at % CLIENTS}`,
    eventId,
    headers: {},
    body: serializeEnvelope({
      header: { event_id: eventId },
      items: [{ type: 'event', header: { type: 'event' }, payload }],
    }),
    categories: { error: 1 },
    keep: 'error',
  })
  // At once and not through a stream: what is told must have been accepted, whenever the end comes.
  writeSync(1, `${eventId}\n`)
  drainer.wake()
  if (at % A_TURN === 0) await turn()
}
if (!(await drainer.stop(new AbortController().signal))) throw new Error('Not everything was delivered')
upstream.dispose()
database.dispose()
