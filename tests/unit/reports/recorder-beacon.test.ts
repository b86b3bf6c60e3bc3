import { afterEach, expect, test, vi } from 'vitest'
import type { ReportingPage } from '../../../src/client/reports/page-reports.ts'
import { startRecorder } from '../../../src/client/reports/recorder.ts'
import { parseEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import { filterItems } from '../../../src/server/reports/intake/filter-envelope.ts'

const PAGE = 'https://mill.example/mills/7'
const TRACE = `${'a'.repeat(32)}-${'b'.repeat(16)}`

afterEach(() => void vi.unstubAllGlobals())

/** A page in which things fail before the SDK has come; then it is left. @returns what the relay keeps of it. */
function leave(fail: (listeners: Readonly<Record<string, (event: object) => void>>) => void): unknown[] {
  const listeners: Record<string, (event: object) => void> = {}
  const sent: unknown[] = []
  vi.stubGlobal('location', new URL(`${PAGE}?token=hidden#part-hidden`))
  vi.stubGlobal('addEventListener', (type: string, listener: () => void) => void (listeners[type] = listener))
  vi.stubGlobal('document', { querySelector: () => ({ textContent: '{"route":"/(site)/mills/[id]"}' }) })
  vi.stubGlobal('performance', { getEntries: () => [{ serverTiming: [{ name: 'sentry-trace', description: TRACE }] }] })
  vi.stubGlobal('navigator', {
    sendBeacon(_: string, body: string) {
      const { header, items } = parseEnvelope(Buffer.from(body))
      expect(header).toEqual({ dsn: 'https://key@errors.example/1' })
      const kept = filterItems(items, new Set(items), { relayPath: '/tunnel', keepsErrors: false })
      sent.push(...kept.map(({ payload }) => JSON.parse(String(payload)) as unknown))
    },
  })
  startRecorder(globalThis as unknown as Window & typeof globalThis & ReportingPage, {
    dsn: 'https://key@errors.example/1',
    tunnel: '/tunnel',
    sdk: '/sdk.js',
    release: 'r1',
    environment: 'production',
    rate: 0,
  })
  fail(listeners)
  listeners['pagehide']?.({})
  return sent
}

test('what fails in a page that is left early is reported with route and trace, and without the query', () => {
  const error = Object.assign(new Error('stuck'), { stack: `Error: stuck\n    at ${PAGE}?token=hidden:1:2` })
  const sent = leave(({ error: failed }) => failed?.({ target: globalThis, error, message: 'Uncaught Error: stuck' }))
  expect(sent).toMatchObject([
    {
      platform: 'javascript',
      release: 'r1',
      request: { url: PAGE },
      tags: { route: '/(site)/mills/[id]' },
      contexts: { trace: { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) } },
      exception: { values: [{ type: 'Error', value: 'stuck' }] },
      extra: { stack: `Error: stuck\n    at ${PAGE}:1:2` },
    },
  ])
  expect(JSON.stringify(sent)).not.toContain('hidden')
})

test('what the server has told of already is not sent', () => {
  const reason = Object.assign(new Error('told'), { digest: '0123456789ab' })
  expect(leave(({ unhandledrejection }) => unhandledrejection?.({ reason }))).toEqual([])
})

test('a script that did not come is sent, a picture or a film is not', () => {
  const sent = leave(({ error: failed }) => {
    failed?.({ target: { localName: 'img', src: 'https://mill.example/wheel.png' } })
    failed?.({ target: { localName: 'video', src: 'https://mill.example/wheel.mp4' } })
    failed?.({ target: { localName: 'script', src: 'https://mill.example/wheel.js' } })
  })
  expect(sent).toMatchObject([{ exception: { values: [{ value: 'https://mill.example/wheel.js' }] } }])
})

test('no query, fragment, password or content of an address is reported', () => {
  const sent = leave(({ error: failed, unhandledrejection }) => {
    for (const href of [
      'https://ann:hidden@cdn.example/wheel.css?sig=hidden',
      'data:text/css,hidden',
      'https://mill.example/a.css#hidden',
    ])
      failed?.({ target: { localName: 'link', href } })
    const reason = new Error('Failed to load route data: /mills?token=hidden')
    unhandledrejection?.({ reason })
  })
  expect(JSON.stringify(sent)).not.toContain('hidden')
  expect(sent).toMatchObject(
    [
      'https://cdn.example/wheel.css',
      'data:text/css',
      'https://mill.example/a.css',
      'Failed to load route data: /mills',
    ].map((value) => ({
      exception: { values: [{ value }] },
    })),
  )
})

test('one failure that comes in two ways is sent once', () => {
  const error = new Error('stuck')
  const sent = leave(({ error: failed, unhandledrejection }) => {
    failed?.({ target: globalThis, error })
    unhandledrejection?.({ reason: error })
  })
  expect(sent).toHaveLength(1)
})

test('a storm of failures is not sent without end', () => {
  const sent = leave(({ error: failed }) => {
    for (let count = 0; count < 100; count += 1) failed?.({ target: globalThis, message: `storm ${count}` })
  })
  expect(sent.length).toBeLessThan(30)
})
