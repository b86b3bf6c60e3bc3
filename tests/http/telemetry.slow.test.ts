import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { startOtlpCollector } from '../support/otlp-collector.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const ARRIVAL = { timeout: 10_000 } // the exporter waits for more spans before it sends some

async function started(options: Parameters<typeof startBuiltServer>[0]): Promise<BuiltServer> {
  const server = await startBuiltServer(options)
  onTestFinished(async () => void (await server.stop()))
  return server
}

test('the built server follows requests by a provider of the application, and counts its connections', async () => {
  await using collector = await startOtlpCollector()
  const { origin, stop } = await started({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '200',
    },
    nodeArgs: ['--import', resolve(PROJECT, 'tests/fixtures/register-telemetry.ts')],
  })
  expect((await fetch(`${origin}/lab/params/7`)).status).toBe(200)
  const names = (): string[] => collector.spans.map(({ name }) => name)
  await expect.poll(names, ARRIVAL).toEqual(expect.arrayContaining(['GET /lab/params/[id]', 'shell']))
  const request = collector.spans.find(({ name }) => name === 'GET /lab/params/[id]')
  const shells = collector.spans.filter(
    ({ name, parentSpanId }) => name === 'shell' && parentSpanId === request?.spanId,
  )
  expect(shells).toHaveLength(1)
  await stop()
})

test('a built server without a provider loads nothing of OpenTelemetry', async () => {
  const { origin, stop, stderr } = await started({
    nodeArgs: ['--require', resolve(PROJECT, 'tests/fixtures/loaded-packages.cjs')],
  })
  expect((await fetch(`${origin}/lab`)).status).toBe(200)
  await stop()
  const [own = ''] = stderr().match(/^own: .*$/gm) ?? []
  expect(own).toContain('/process/telemetry/telemetry.ts')
  // Other packages that a server loads have the API for their own purposes.
  expect(own).not.toMatch(/process\/telemetry\/(?!telemetry\.ts)/)
})
