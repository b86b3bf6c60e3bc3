import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { CreateAppOptions } from '../../src/server/app.ts'
import { NO_ASSETS, RECORDER_SETTINGS } from '../../src/server/assets/manifest.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { startReportServer } from './report-setup.ts'

const TYPE = { 'Content-Type': 'application/csp-report' }
const report = (blocked: string): string =>
  JSON.stringify({
    'csp-report': {
      'document-uri': 'http://localhost/mills/7?token=secret',
      'effective-directive': 'script-src-elem',
      'blocked-uri': blocked,
    },
  })

describe('what a browser tells of a policy', () => {
  test('reaches the service as an event, with nothing of a query', async () => {
    const { sink, post } = await startReportServer()
    const answer = await post(report('https://evil.test/x.js?c=secret'), TYPE)
    expect([answer.status, answer.header('cache-control')]).toEqual([200, 'no-store'])
    await sink.until(({ requests }) => requests.length === 1)
    const [sent] = sink.requests
    expect(sent?.eventId).toMatch(/^[0-9a-f]{32}$/)
    const event = sent?.envelope?.items[0]?.payload.toString() ?? ''
    expect(JSON.parse(event)).toMatchObject({ logger: 'csp', tags: { blocked: 'https://evil.test/x.js' } })
    expect(event).not.toContain('secret')
  })

  test('is shown by the inbox where there is no service', async () => {
    const { post, app, port } = await startReportServer({ SENTRY_DSN: '' })
    expect(port).toBeGreaterThan(0)
    expect((await post(report('https://evil.test/x.js'), TYPE)).status).toBe(200)
    expect(app.reports.dsn).toBe('https://inbox@inbox.invalid/1')
  })

  test('is refused where it is none, too long, or of another site', async () => {
    const { sink, post } = await startReportServer()
    expect((await post('none', TYPE)).status).toBe(400)
    expect((await post(Buffer.from([0xff, 0xfe]), TYPE)).status).toBe(400)
    expect((await post(report('x'.repeat(70_000)), TYPE)).status).toBe(413)
    expect((await post(report('inline'), { ...TYPE, 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
    expect((await post(report('inline'), { ...TYPE, Origin: 'https://evil.test' })).status).toBe(403)
    expect(sink.requests).toEqual([])
  })

  test('of many violations that are not alike counts as many reports', async () => {
    const { sink, post } = await startReportServer()
    const list = { 'Content-Type': 'application/reports+json' }
    const blocked = (request: number, at: number) => ({
      type: 'csp-violation',
      body: { effectiveDirective: 'img-src', blockedURL: `https://${request}-${at}.test/${at}` },
    })
    const statuses: number[] = []
    for (let request = 0; request < 30; request += 1) {
      const reports = Array.from({ length: 20 }, (_, at) => blocked(request, at))
      statuses.push((await post(JSON.stringify(reports), list)).status)
    }
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
    await sink.until(({ requests }) => requests.length >= 30)
    expect(sink.requests.length).toBeLessThan(35)
  })

  test('of one client is taken thirty times a minute', async () => {
    const { post } = await startReportServer()
    const statuses: number[] = []
    for (let at = 0; at < 32; at += 1) statuses.push((await post(report(`https://${at}.test`), TYPE)).status)
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(200))
    expect(statuses.at(-1)).toBe(429)
    expect((await post(report('inline'), TYPE)).header('retry-after')).toMatch(/^\d+$/)
  })
})

describe('a document', () => {
  const manifest = { ...NO_ASSETS, reports: { recorder: `void ${RECORDER_SETTINGS}`, sdk: '/_m/assets/sdk.js' } }
  const headersOf = async (options: Partial<Parameters<typeof tinyApp>[0]> = {}, assets = manifest) => {
    const given: CreateAppOptions['assets'] = { manifest: assets, folder: '/nowhere' }
    const { app } = tinyApp({ routes: { '/': { page: page(() => 'home') } } as never, assets: given, ...options })
    return {
      path: app.reports.tunnelPath,
      headers: (await request(app).get('/').set('Host', 'shop.test').expect(200)).headers,
    }
  }

  test('asks browsers to tell the relay; by https in the new way, too', async () => {
    const { headers, path } = await headersOf()
    expect(headers['content-security-policy']).toMatch(new RegExp(`; report-uri ${path}$`))
    expect(headers['reporting-endpoints']).toBeUndefined()
    const { headers: secure } = await headersOf({ environment: { ORIGIN: 'https://shop.test' } })
    expect(secure['content-security-policy']).toMatch(new RegExp(`; report-uri ${path}; report-to policy$`))
    expect(secure['reporting-endpoints']).toBe(`policy="${path}"`)
  })

  test('asks so without a nonce, too', async () => {
    const open = moduleOf({
      loader: ({ context }: { readonly context: { readonly headers: Headers } }) =>
        context.headers.set('Cache-Control', 'public, max-age=60'),
    })
    const { headers, path } = await headersOf({
      routes: { '/': { page: page(() => 'home'), loader: open } } as never,
    })
    expect(headers['content-security-policy']).not.toContain('nonce')
    expect(headers['content-security-policy']).toContain(`report-uri ${path}`)
  })

  test('asks for nothing where visitors are asked first, or nothing is reported', async () => {
    for (const { headers } of [
      await headersOf({ reports: { consent: 'ask' } }),
      await headersOf({}, NO_ASSETS as typeof manifest),
    ]) {
      expect(headers['content-security-policy']).not.toContain('report')
      expect(headers['reporting-endpoints']).toBeUndefined()
    }
  })
})
