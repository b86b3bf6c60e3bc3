/** What visitors send to kept pages with variants and slots fills no list. */
import { describe, expect, test } from 'vitest'
import type { RequestServices } from '../../../src/server/request/context.ts'
import { RequestContext } from '../../../src/server/request/context.ts'
import { LearnedSlots } from '../../../src/server/request/learned-slots.ts'
import { VisitorReads } from '../../../src/server/stores/cache/visitor-reads.ts'
import { VariantChoices } from '../../../src/server/routes/kept/variant-choices.ts'
import type { OpensSessions } from '../../../src/server/secrets/sealed-cookie.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import type { VariantRequest } from '../../../src/shared/route-definition.ts'
import { detachedRequest } from './request-context.ts'

const MINUTE_MS = 60_000

/** A page that makes a variant of what visitors send, which no page should. */
function careless() {
  const clock = { ms: 0 }
  const warned = new Set<string>()
  const { routes } = createRouteTable({
    '/': {
      cache: 'shared',
      page: async () => ({}),
      variants: { sent: ({ headers, cookies }: VariantRequest) => headers.get('x') ?? cookies['x'] ?? '' },
    },
  })
  const [route] = routes
  if (route === undefined) throw new Error('no route')
  const choices = new VariantChoices()
  const services = { now: () => clock.ms, warnOnce: (key: string) => warned.add(key) } as unknown as RequestServices
  const isTaken = (headers: Record<string, string>): boolean => {
    const { context } = detachedRequest()
    const own = new RequestContext({ ...context, req: { headers } as never, res: fakeResponse(), services } as never)
    return choices.choose(route, own) === undefined
  }
  return { clock, warned, isTaken }
}

const fakeResponse = () => ({ closed: false, getHeader: () => undefined, setHeader: () => undefined })

describe('10,000 values', () => {
  test.for([
    ['a header', (n: number) => ({ x: `v${n}` })],
    ['a cookie', (n: number) => ({ cookie: `x=v${n}` })],
  ] as const)('of %s that ends in a variant are 32, and one that nobody asks for makes room', ([, headersOf]) => {
    const { clock, warned, isTaken } = careless()
    const taken = Array.from({ length: 10_000 }, (_, n) => isTaken(headersOf(n)))
    expect(taken.filter(Boolean)).toHaveLength(32)
    expect(warned.size).toBe(1)
    clock.ms += 9 * MINUTE_MS
    expect([isTaken(headersOf(5)), isTaken(headersOf(99))]).toEqual([true, false])
    clock.ms += 2 * MINUTE_MS
    // The page in German is there again after somebody has made 32 others.
    expect(Array.from({ length: 10_000 }, (_, n) => isTaken(headersOf(n + 20_000))).filter(Boolean)).toHaveLength(31)
    expect(isTaken(headersOf(5))).toBe(true)
  })

  test.for([
    ['short', 1],
    ['long', 300],
  ] as const)('of names of cookies, %s ones, that a page has read count as all cookies', ([, length]) => {
    const reads = new VisitorReads()
    reads.note('cookie user')
    expect([reads.concern({ cookie: 'user=ann' }), reads.concern({ cookie: 'other=1' })]).toEqual([true, false])
    for (let n = 0; n < (length > 1 ? 1 : 10_000); n += 1) reads.note(`cookie ${'n'.repeat(length)}${n}`)
    expect([reads.isOfAll, reads.concern({}), reads.concern({ cookie: 'other=1' })]).toEqual([false, false, true])
  })

  test('of kinds of sessions that are declared for each request are 16', () => {
    const learned = new LearnedSlots()
    for (let n = 0; n < 10_000; n += 1) learned.noteKind({ open: async () => n } satisfies OpensSessions)
    expect(learned.kinds).toHaveLength(16)
  })
})
