import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startRedis } from '../../tests/support/redis-server.ts'
import { startReportSink } from '../../tests/support/report-sink.ts'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { runImage } from './run-image.ts'
import type { BuiltImage } from './engine.ts'
import { createCheckList } from './check-list.ts'

const LISTENING = /listening on http:\/\/localhost:(\d+)/
const METRICS = /"port":(\d+),.*"metrics are served"/
const ASSETS = '/assets'
const SECOND_LOOKS = 100 // of 50 ms: the work of another process can only be polled

/**
 * Runs an image with every setting that loads further code: the client of the shared store, the reports of the server,
 * metrics, workers, and the folder that instances share. Prints the results.
 * @param work absolute path of an empty folder.
 * @returns titles of failed checks.
 */
export async function checkSettings(image: BuiltImage, work: string): Promise<readonly string[]> {
  const { check, faults } = createCheckList()
  console.log('\nRunning as two workers with a shared store, a service for reports, metrics and a shared folder')
  const [volume, assets] = [join(work, 'data'), join(work, 'assets')]
  for (const folder of [volume, assets]) mkdirSync(folder, { recursive: true })
  await using redis = await startRedis()
  await using sink = await startReportSink()
  const server = runImage(image, {
    volume,
    folders: { [ASSETS]: assets },
    env: {
      PORT: '0',
      METRICS_PORT: '0',
      WORKERS: '2',
      REDIS_URL: redis.url,
      SECRET_KEYS: randomBytes(32).toString('base64'),
      SENTRY_DSN: sink.dsn,
      ASSETS_DIR: ASSETS,
    },
  })
  try {
    const origin = `http://127.0.0.1:${(await server.line(LISTENING))[1] ?? ''}`
    const metrics = `http://127.0.0.1:${(await server.line(METRICS))[1] ?? ''}/metrics`
    check('/readyz says yes', (await fetch(`${origin}/readyz`)).status === 200)
    const isConnected = await holds(async () =>
      /^millrace_shared_store_connected(?:\{[^}]*\})? 1$/m.test(await (await fetch(metrics)).text()),
    )
    check('metrics are served, and report that the shared store is connected', isConnected)
    await keepsReports(origin)
    const [build, ...others] = readdirSync(assets)
    check('its files are in the shared folder', build === buildId() && others.length === 0, build)
    server.signal('SIGTERM')
    check('SIGTERM ends all processes with code 0', (await server.exited) === 0)
    const complaints = server.output().split('\n').filter(isComplaint)
    check('the log has no warnings', complaints.length === 0, complaints.join('\n'))
  } finally {
    if ((await Promise.race([server.exited, 'running' as const])) === 'running') server.signal('SIGKILL')
  }
  return faults

  /**
   * One report of a browser by the relay, one of the server by its own SDK: both reach the service through the shared
   * store.
   */
  async function keepsReports(origin: string): Promise<void> {
    const envelope = serializeEnvelope({
      header: { dsn: sink.dsn },
      items: [{ type: 'event', header: { type: 'event' }, payload: Buffer.from('{"message":"of a browser"}') }],
    })
    const path = derivedTunnelPath(sink.dsn)
    const { status } = await fetch(`${origin}${path}`, { method: 'POST', body: new Uint8Array(envelope) })
    await fetch(`${origin}/lab/crash/render`)
    const texts = (): string[] => sink.requests.map(({ body }) => body.toString())
    const came = await holds(() => texts().some((text) => text.includes('of a browser')))
    check('a report of a browser reaches the service', status === 200 && came)
    check('so does a report of the server', await holds(() => texts().some((text) => text.includes('"digest"'))))
  }

  function buildId(): string {
    const manifest = readFileSync(join(image.root, 'app/dist/manifest.json'), 'utf8')
    return (JSON.parse(manifest) as { readonly buildId: string }).buildId
  }
}

/** One page fails on purpose; all other lines at warning level or above are complaints. */
function isComplaint(line: string): boolean {
  return /"level":[4-6]0/.test(line) && !line.includes('/lab/crash/')
}

async function holds(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < SECOND_LOOKS; look += 1) {
    if (await condition()) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}
