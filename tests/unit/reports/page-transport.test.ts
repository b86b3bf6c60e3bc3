import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pageTransport } from '../../../src/client/reports/page-transport.ts'

const NOW = Date.parse('Mon, 23 Nov 2026 12:00:00 GMT')

type TransportOptions = Parameters<ReturnType<typeof pageTransport>>[0]

/** A page whose relay is away, and says by this header when it is back. */
function createPage(retryAfter: string) {
  const sent: number[] = []
  const answer = (): Promise<Response> => {
    sent.push(Date.now() - NOW)
    return Promise.resolve(new Response('away', { status: 503, headers: { 'Retry-After': retryAfter } }))
  }
  const store = { push: () => Promise.resolve(), unshift: () => Promise.resolve(), shift: () => Promise.resolve() }
  const options = {
    url: 'https://millrace.test/relay',
    recordDroppedEvent: () => undefined,
    createStore: () => store,
  } as unknown as TransportOptions
  const transport = pageTransport(answer)(options)
  const report = (): unknown => transport.send([{ event_id: 'a'.repeat(32) }, [[{ type: 'event' }, {}]]] as never)
  return { sent, report }
}

beforeEach(() => {
  vi.stubGlobal('addEventListener', () => undefined)
  vi.useFakeTimers({ now: NOW, toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

test.for([
  ['60', 60],
  ['Mon, 23 Nov 2026 12:01:00 GMT', 60],
  ['86400', 300],
  ['Tue, 24 Nov 2026 12:00:00 GMT', 300],
] as const)('a relay that is away until "%s" gets no report for %i seconds', async ([retryAfter, seconds]) => {
  const { sent, report } = createPage(retryAfter)
  await report()
  vi.setSystemTime(NOW + seconds * 1_000 - 1)
  await report()
  expect(sent).toEqual([0])
  vi.setSystemTime(NOW + seconds * 1_000)
  await report()
  expect(sent).toEqual([0, seconds * 1_000])
})
