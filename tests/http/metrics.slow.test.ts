import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { startReportSink } from '../support/report-sink.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { postRequest } from './report-setup.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
vi.setConfig({ testTimeout: 60_000 }) // a start of several processes, on a busy machine

/** A server with metrics, and the way to them. */
async function measured(env: Readonly<Record<string, string>> = {}) {
  const server = await serverOfTest({ env: { METRICS_PORT: '0', ...env } })
  const port = Number(server.logs().find(({ msg }) => msg === 'metrics are served')?.['port'])
  const scrape = async (): Promise<string> => (await requestRaw(port, getRequest('/metrics'))).text
  return { server, port, scrape }
}

const ask = (server: BuiltServer, path: string, headers: Readonly<Record<string, string>> = {}) =>
  requestRaw(server.port, getRequest(path, { Connection: 'close', ...headers }))

/** The value of a sample, `undefined` where there is none. */
function valueOf(text: string, sample: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `))
  return line === undefined ? undefined : Number(line.slice(sample.length + 1))
}

/** Waits for a sample; requests are counted a little after their answer. */
async function expectSample(scrape: () => Promise<string>, sample: string, value: number): Promise<void> {
  await expect.poll(async () => valueOf(await scrape(), sample), { timeout: 10_000 }).toBe(value)
}

const requests = (labels: string): string => `millrace_http_requests_total{${labels}}`

test('every kind of request is counted under its route, whatever its URL was', async () => {
  const { server, scrape } = await measured({ MAX_PENDING_RENDERS: '1' })
  const manifest = JSON.parse(await readFile(resolve(PROJECT, 'dist/manifest.json'), 'utf8')) as { entry: string }
  await ask(server, '/lab/params/secret-canary')
  await ask(server, '/_m/data/lab/params/secret-canary')
  await ask(server, '/_m/data/lab/params/secret-canary', { Purpose: 'prefetch' })
  await ask(server, '/secret-canary')
  await ask(server, '/%')
  await ask(server, manifest.entry)
  await ask(server, '/healthz')
  await ask(server, '/robots.txt')
  await requestRaw(server.port, 'SEARCH /lab HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await requestRaw(
    server.port,
    'POST /lab?_action=x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  )

  const id = 'route="/lab/params/[id]"'
  await expectSample(scrape, requests(`${id},kind="document",method="GET",status="2xx"`), 1)
  await expectSample(scrape, requests(`${id},kind="data",method="GET",status="2xx"`), 1)
  await expectSample(scrape, requests(`${id},kind="prefetch",method="GET",status="2xx"`), 1)
  await expectSample(scrape, requests('route="none",kind="document",method="GET",status="4xx"'), 1)
  await expectSample(scrape, requests('route="none",kind="other",method="GET",status="4xx"'), 1)
  await expectSample(scrape, requests('route="/_m/assets/*",kind="asset",method="GET",status="2xx"'), 1)
  await expectSample(scrape, requests('route="/healthz",kind="health",method="GET",status="2xx"'), 1)
  await expectSample(scrape, requests('route="/robots.txt",kind="resource",method="GET",status="2xx"'), 1)
  await expectSample(scrape, requests('route="/lab",kind="document",method="other",status="4xx"'), 1)

  using held = await connectRaw(server.port)
  await held.send(getRequest('/lab/stream?delay=60000'))
  await held.receive(12)
  await expectSample(scrape, 'millrace_renders_in_progress', 1)
  expect((await ask(server, '/lab')).status).toBe(503)
  held.socket.resetAndDestroy()
  await expectSample(scrape, 'millrace_requests_shed_total{kind="document",reason="wait"}', 1)
  await expectSample(scrape, 'millrace_http_requests_aborted_total{route="/lab/stream",kind="document"}', 1)
  await expectSample(scrape, 'millrace_renders_in_progress', 0)

  const text = await scrape()
  expect(text).not.toContain('secret-canary')
  expect(valueOf(text, `millrace_http_request_duration_seconds_count{${id},kind="document"}`)).toBe(1)
  expect(valueOf(text, `millrace_http_response_bytes_total{${id},kind="document"}`)).toBeGreaterThan(1_000)
  for (const phase of ['loaders', 'shell', 'stream']) {
    expect(valueOf(text, `millrace_render_phase_seconds_count{phase="${phase}",kind="prefetch"}`)).toBe(1)
  }
  expect(valueOf(text, 'millrace_renders_limit')).toBe(1)
  expect(text).toMatch(/^millrace_build_info\{build="[0-9a-f]{16}",node="\d+\.\d+\.\d+"\} 1$/m)
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
})

test('what the caches do is counted, of all workers together', async () => {
  const { server, scrape } = await measured({ WORKERS: '2' })
  for (let index = 0; index < 6; index += 1) expect((await ask(server, '/lab/shared/1')).status).toBe(200)
  const result = (name: string): string => `millrace_data_cache_requests_total{result="${name}"}`
  // Each worker makes the value once.
  await expectSample(scrape, result('miss'), 2)
  await expectSample(scrape, result('hit'), 4)
  await expectSample(scrape, 'millrace_data_cache_fills_total{source="made"}', 2)
  await expectSample(scrape, 'millrace_data_cache_entries', 2)
  await expectSample(scrape, 'millrace_kept_document_entries', 2)
  await expectSample(scrape, 'millrace_kept_documents_total', 0)
  const text = await scrape()
  expect(valueOf(text, 'millrace_data_cache_bytes')).toBeGreaterThan(300)
  expect(valueOf(text, 'millrace_kept_document_bytes')).toBeGreaterThan(2_000)
  expect(valueOf(text, result('hit'))).toBe(4) // reading them twice does not count twice
  for (let index = 0; index < 6; index += 1) expect((await ask(server, '/lab/kept/1?s=600')).status).toBe(200)
  const kept = (status: string): string => `millrace_kept_pages_total{route="/lab/kept/[key]",status="${status}"}`
  await expectSample(scrape, kept('miss'), 2)
  await expectSample(scrape, kept('hit'), 4)
})

describe('reports', () => {
  const envelopes = (outcome: string): string => `millrace_report_envelopes_total{outcome="${outcome}"}`
  const waiting = 'millrace_spool_envelopes{store="disk"}'
  const failing = 'millrace_report_service_failing'

  test('are counted on their way, and those that wait are seen, of all workers together', async () => {
    await using sink = await startReportSink()
    const { server, scrape } = await measured({ SENTRY_DSN: sink.dsn, WORKERS: '2' })
    const report = async (): Promise<void> => {
      const header = { event_id: crypto.randomUUID().replaceAll('-', ''), dsn: sink.dsn }
      const body = serializeEnvelope({
        header,
        items: [{ type: 'event', header: { type: 'event' }, payload: Buffer.from('{}') }],
      })
      const answer = await requestRaw(server.port, postRequest(derivedTunnelPath(sink.dsn), body))
      expect(answer.status).toBe(200)
    }
    await report()
    await expectSample(scrape, envelopes('kept'), 1)
    await expectSample(scrape, envelopes('delivered'), 1)
    await expectSample(scrape, waiting, 0)
    await expectSample(scrape, failing, 0)

    await sink.close()
    for (let index = 0; index < 3; index += 1) await report()
    await expectSample(scrape, envelopes('kept'), 4)
    await expectSample(scrape, waiting, 3)
    await expectSample(scrape, failing, 1)
    expect(valueOf(await scrape(), 'millrace_spool_bytes{store="disk"}')).toBeGreaterThan(1_500)
    expect(valueOf(await scrape(), envelopes('delivered'))).toBe(1)

    await sink.open()
    await expectSample(scrape, waiting, 0)
    await expectSample(scrape, envelopes('delivered'), 4)
    await expectSample(scrape, failing, 0)
  })

  test('of the inbox are counted, and nothing waits', async () => {
    const { server, scrape } = await measured()
    expect((await ask(server, '/lab/crash/loader')).status).toBe(500)
    await expectSample(scrape, envelopes('kept'), 1)
    expect(await scrape()).not.toMatch(/^millrace_(?:spool_|report_service_failing)\S* /m)
  })
})

describe('the metrics port', () => {
  test('answers /metrics and nothing else, and the public port does not', async () => {
    const { server, port } = await measured()
    const answer = await requestRaw(port, getRequest('/metrics?x'))
    expect([answer.status, answer.header('content-type'), answer.header('cache-control')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'no-store',
    ])
    for (const path of ['/', '/healthz', '/metrics/', '/lab']) {
      expect((await requestRaw(port, getRequest(path))).status).toBe(404)
    }
    const post = await requestRaw(port, 'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    expect([post.status, post.header('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await ask(server, '/metrics')).status).toBe(404)
  })

  test('is another one than that of the site', async () => {
    await expect(startBuiltServer({ env: { PORT: '39999', METRICS_PORT: '39999' } })).rejects.toThrow(
      /METRICS_PORT: "39999" is refused: it is the PORT of the site/,
    )
  })
})

test('with workers the metrics are those of all of them, and outlive each', async () => {
  const { server, scrape } = await measured({ WORKERS: '2' })
  for (let index = 0; index < 6; index += 1) expect((await ask(server, '/lab')).status).toBe(200)
  const lab = requests('route="/lab",kind="document",method="GET",status="2xx"')
  await expectSample(scrape, lab, 6)
  await expectSample(scrape, 'millrace_workers', 2)
  const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').catch(() => '')
  if (children === '') return // no such file here
  process.kill(Number(children.split(' ')[0]), 'SIGKILL')
  await expectSample(scrape, 'millrace_worker_deaths_total', 1)
  await expectSample(scrape, lab, 6)
  await expect.poll(async () => valueOf(await scrape(), 'millrace_workers'), { timeout: 30_000 }).toBe(2)
})

test.for([
  ['1', undefined, false],
  ['2', undefined, false],
  ['1', '0', true],
  ['2', '0', true],
] as const)(
  'with WORKERS=%s and METRICS_PORT=%s the metrics library is loaded: %s',
  async ([workers, port, loaded]) => {
    const server = await startBuiltServer({
      env: { WORKERS: workers, ...(port !== undefined && { METRICS_PORT: port }) },
      nodeArgs: ['--require', resolve(PROJECT, 'tests/fixtures/loaded-packages.cjs')],
    })
    expect((await ask(server, '/lab')).status).toBe(200)
    await server.stop()
    const lists = server.stderr().match(/^loaded: .*$/gm) ?? []
    expect(lists).toHaveLength(workers === '1' ? 1 : 3)
    expect(lists.some((list) => list.includes('express'))).toBe(true)
    expect(lists.some((list) => list.includes('@prometheus-io/client'))).toBe(loaded)
  },
)

describe('the dashboard', () => {
  interface Panel {
    readonly title: string
    readonly type: string
    readonly targets?: readonly { readonly expr: string }[]
    readonly panels?: readonly Panel[]
  }
  const all = (panels: readonly Panel[]): readonly Panel[] =>
    panels.flatMap((panel) => [panel, ...all(panel.panels ?? [])])

  test('names only metrics that there are, and every metric of ours has its place', async () => {
    const file = await readFile(resolve(PROJECT, 'deploy/grafana/millrace.json'), 'utf8')
    const { panels } = JSON.parse(file) as { panels: readonly Panel[] }
    const expressions = all(panels).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    const named = new Set(expressions.join('\n').match(/\b(?:millrace|process|nodejs)_\w+/g))
    const { scrape } = await measured({ WORKERS: '2' })
    const exported = new Set(
      [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    )
    expect([...named].filter((name) => !exported.has(name))).toEqual([])
    const ours = [...exported].filter((name) => name.startsWith('millrace_') && !/_(?:sum|count)$/.test(name))
    expect(ours.filter((name) => !named.has(name))).toEqual([])
    expect(ours.length).toBeGreaterThan(10)
    const handbook = await readFile(resolve(PROJECT, 'docs/observability.md'), 'utf8')
    expect(ours.filter((name) => !handbook.includes(`\`${name.replace(/_bucket$/, '')}\``))).toEqual([])
  })
})
