import { BrowserClient, type Event } from '@sentry/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPageClient } from '../../../src/client/reports/report-client.ts'
import { parseEnvelope } from '../../../src/server/reports/intake/envelope.ts'

/** What the page is at; a token must not leave it. */
const PAGE = 'https://mill.example/mills/7'
const SECRET = `${PAGE}?token=hidden#part-hidden`

const asked = vi.hoisted(() => ({ tracing: {} as Readonly<Record<string, unknown>> }))
vi.mock('@sentry/react', async (load) => ({
  ...(await load<object>()),
  browserTracingIntegration: (options: Readonly<Record<string, unknown>>) => {
    asked.tracing = options
    return { name: 'BrowserTracing' }
  },
}))

beforeEach(() => {
  vi.stubGlobal('location', new URL(PAGE))
  vi.stubGlobal('addEventListener', () => undefined)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** A page whose relay answers by a script. */
function page(answers: readonly (number | 'offline')[] = []) {
  const sent: Event[] = []
  const left = [...answers]
  const fetch = (_: unknown, { body }: { readonly body: string | Uint8Array }): Promise<Response> => {
    const [item] = parseEnvelope(Buffer.from(body)).items
    sent.push(JSON.parse(String(item?.payload)) as Event)
    const answer = left.shift() ?? 200
    return answer === 'offline'
      ? Promise.reject(new TypeError('offline'))
      : Promise.resolve(new Response('{}', { status: answer, headers: answer === 503 ? { 'retry-after': '30' } : {} }))
  }
  const lost: string[] = []
  vi.spyOn(BrowserClient.prototype, 'recordDroppedEvent').mockImplementation((reason) => void lost.push(reason))
  const client = createPageClient({ fetch } as never, {
    dsn: 'https://key@errors.example/1',
    tunnel: '/tunnel',
    sdk: '/sdk.js',
    release: 'r1',
    environment: 'production',
    rate: 1,
  })
  return {
    lost,
    sent,
    /** Resolves when the SDK has done with it, sent or not. */
    async capture(event: Event): Promise<void> {
      client.captureEvent(event)
      await client.flush()
    },
    async throws(thrown: unknown): Promise<Event | undefined> {
      client.captureException(thrown)
      await vi.waitFor(() => expect(sent.length).toBeGreaterThan(0))
      return sent.at(-1)
    },
    async report(event: Event): Promise<Event | undefined> {
      const before = sent.length
      client.captureEvent(event)
      await vi.waitFor(() => expect(sent.length).toBeGreaterThan(before))
      return sent.at(-1)
    },
  }
}

const frame = (filename: string) => ({ filename, lineno: 1, colno: 2 })

test('of an object that was thrown, the names of its members leave the page, and no value', async () => {
  const event = await page().throws({ email: 'ann@mill.example', password: 'hunter2', deep: { token: 'hunter3' } })
  expect(event?.exception?.values?.[0]?.value).toContain('deep, email, password')
  expect(JSON.stringify(event)).not.toMatch(/hunter|ann@/)
})

describe('no query and no fragment leaves the page', () => {
  test('in an error, whose stack leads through a script inside of the document', async () => {
    const event = await page().report({
      request: { url: SECRET },
      contexts: { react: { componentStack: `\n    at Mill (${SECRET}:1:2)\n    at Other (${PAGE}:3:4)` } },
      exception: { values: [{ type: 'Error', value: 'Why?', stacktrace: { frames: [frame(SECRET), frame(PAGE)] } }] },
    })
    expect(JSON.stringify(event)).not.toContain('hidden')
    expect(event).toMatchObject({
      request: { url: PAGE },
      contexts: { react: { componentStack: `\n    at Mill (${PAGE}:1:2)\n    at Other (${PAGE}:3:4)` } },
      exception: { values: [{ value: 'Why?', stacktrace: { frames: [{ filename: PAGE }, { filename: PAGE }] } }] },
    })
  })

  test('in messages, tags, breadcrumbs and causes, whatever site they are of', async () => {
    const event = await page().report({
      message: 'Loaded https://ann:hidden@other.example/a?b=hidden, then (/c#hidden).',
      tags: { way: '/d?hidden' },
      extra: { deep: { urls: ['data:text/css;base64,hidden', `blob:${SECRET}`] } },
      breadcrumbs: [
        { category: 'navigation', data: { from: '/e?hidden', to: '/f' } },
        { category: 'console', message: 'Failed to load route data: /g?hidden', data: { arguments: ['/g?hidden'] } },
      ],
      exception: {
        values: [
          { type: 'TypeError', value: `Failed to fetch dynamically imported module: ${SECRET}` },
          { type: 'RouteLoadError', value: 'Failed to load route data: /guestbook?token=hidden' },
          {
            type: 'Error',
            value: 'Minified React error #418; visit https://react.dev/errors/418?args[]=HTML for more',
          },
        ],
      },
    })
    expect(JSON.stringify(event)).not.toContain('hidden')
    expect(event).toMatchObject({
      message: 'Loaded https://other.example/a, then (/c).',
      tags: { way: '/d' },
      extra: { deep: { urls: ['data:text/css', `blob:${PAGE}`] } },
      exception: {
        values: [
          { value: `Failed to fetch dynamically imported module: ${PAGE}` },
          { value: 'Failed to load route data: /guestbook' },
          { value: 'Minified React error #418; visit https://react.dev/errors/418?args[]=HTML for more' },
        ],
      },
    })
  })

  test('in a transaction, whose spans tell of scripts and requests', async () => {
    const span = { trace_id: 't', span_id: 's', start_timestamp: 1, timestamp: 2 }
    const event = await page().report({
      type: 'transaction',
      transaction: '/mills/[id]',
      request: { url: SECRET },
      contexts: { trace: { trace_id: 't', span_id: 'r', data: { 'url.full': SECRET, 'url.path': '/mills/7' } } },
      spans: [
        { ...span, data: { 'code.file.path': SECRET, 'browser.script.invoker': 'IMG#hidden-no.onload' } },
        { ...span, description: `GET ${SECRET}`, data: { 'lcp.size': 4 } },
      ],
    } as never)
    expect(JSON.stringify(event)).not.toMatch(/hidden(?!-no)/)
    expect(event).toMatchObject({
      contexts: { trace: { data: { 'url.full': PAGE, 'url.path': '/mills/7' } } },
      spans: [
        { data: { 'code.file.path': PAGE, 'browser.script.invoker': 'IMG#hidden-no.onload' } },
        { description: `GET ${PAGE}`, data: { 'lcp.size': 4 } },
      ],
    })
  })
})

describe('what the relay does not take now', () => {
  test.for(['offline', 503] as const)('is not told as lost, since it waits (%s)', async (answer) => {
    const { report, capture, lost } = page([answer])
    await report({ message: 'stuck' })
    await capture({ message: 'stuck again' })
    expect(lost).toEqual([])
  })

  test('is not sent before the relay wants to be asked again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { report, capture, sent } = page([503])
    await report({ message: 'stuck' })
    vi.setSystemTime(Date.now() + 29_000)
    await capture({ message: 'too early' })
    expect(sent).toHaveLength(1)
    vi.setSystemTime(Date.now() + 2_000)
    await report({ message: 'stuck again' })
    expect(sent.map(({ message }) => message)).toEqual(['stuck', 'stuck again'])
  })

  test('and never will is', async () => {
    const { report, lost } = page([413])
    await report({ message: 'stuck' })
    await vi.waitFor(() => expect(lost).toEqual(['send_error']))
  })
})

test('a trace ends after a second of silence, and after thirty at the latest; a span after fifteen', () => {
  page()
  expect(asked.tracing).toMatchObject({ idleTimeout: 1_000, finalTimeout: 30_000, childSpanTimeout: 15_000 })
})
