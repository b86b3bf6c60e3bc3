import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAdmission, type Admission } from '../../../src/server/request/admission/admission.ts'
import type { RequestContext } from '../../../src/server/request/context.ts'
import { WaitingClients } from '../../../src/server/request/waiting-clients.ts'
import type { TurnRequest } from '../../../src/server/request/admission/render-turns.ts'
import { RunningWork } from '../../../src/server/request/running-work.ts'

// Some tests leave requests that wait: their timers would go on in other tests of this process.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const addresses = { made: 0 }
/** Of a client that nothing is known of. */
const newAddress = (): string => `192.0.2.${(addresses.made += 1)}`

/** Of a request, what admission looks at; its answer ends when `finish` is called. */
function fakeRequest(kind: 'document' | 'data' | 'prefetch' | 'action' = 'document', address = newAddress()) {
  const listeners: (() => void)[] = []
  const context = {
    prefetch: kind === 'prefetch',
    data: kind === 'document' ? undefined : { build: 'x' },
    action: kind === 'action' ? { id: 'x', form: '' } : undefined,
    clientAddress: { address },
    record: {} as { shed?: string; refused?: string },
    place: {},
    work: new RunningWork(),
    onFinish: (listener: () => void) => listeners.push(listener),
  }
  return {
    context: context as unknown as typeof context & RequestContext,
    finish: () => {
      for (const listener of listeners) listener()
    },
  }
}

/** Whether it is let in at once. */
const enters = (admission: Admission, ...request: Parameters<typeof fakeRequest>): boolean =>
  admission.enter(fakeRequest(...request).context) === undefined

/** Late documents until nothing but a tenth of them is let in. */
function overload(admission: Admission): void {
  for (let sample = 0; sample < 50; sample += 1) admission.sample({ latenessMs: 4_000, utilization: 1 })
}

test('as many documents are admitted at once as there are places, and the next ones wait', async () => {
  const admission = createAdmission({ limit: 2 })
  const first = fakeRequest()
  expect(admission.enter(first.context)).toBeUndefined()
  expect(enters(admission)).toBe(true)
  const [second, third] = [fakeRequest(), fakeRequest()]
  const entering = [second, third].map(({ context }) => admission.enter(context))
  expect([admission.pending, admission.waiting]).toEqual([2, 2])
  first.finish()
  expect(await entering[0]).toBeUndefined()
  expect([admission.pending, admission.waiting]).toEqual([2, 1])
  second.finish()
  expect(await entering[1]).toBeUndefined()
  third.finish()
  expect([admission.pending, admission.waiting]).toEqual([1, 0])
})

test('the second turn of a page for all is in the lines of all who wait for it', () => {
  const lines: unknown[] = []
  const turns = {
    take: ({ client, followClients }: TurnRequest) => {
      const all = [client]
      followClients?.((other) => all.push(other))
      lines.push(all)
      return 'now'
    },
    waits: () => ({ longestMs: 0, gapMs: 0 }),
    number: 1,
    waiting: 0,
  }
  const admission = createAdmission({ limit: 9, turns: turns as never })
  const clients = new WaitingClients()
  clients.add('192.0.2.201')
  for (const making of [undefined, { clients }]) {
    const { context } = fakeRequest('document', '192.0.2.200')
    Object.assign(context, { making })
    void admission.turn(context)
    Object.assign(context, { place: {} })
    void admission.turn(context, true)
  }
  clients.add('192.0.2.202')
  const alone = ['192.0.2.200']
  expect(lines).toEqual([alone, alone, alone, ['192.0.2.200', '192.0.2.201', '192.0.2.202']])
})

test.for([
  [1, 1],
  [2, 1],
  [3, 2],
  [8, 4],
] as const)('prefetches get of %i places no more than %i, whoever has taken them', ([limit, most]) => {
  const admission = createAdmission({ limit })
  const admitted = Array.from({ length: limit }, () => enters(admission, 'prefetch')).filter(Boolean)
  expect(admitted).toHaveLength(most)
  for (let place = most; place < limit; place += 1) expect(enters(admission)).toBe(true)
  expect(enters(admission)).toBe(false)
})

describe('a refusal', () => {
  test('asks those who were refused together to come back at different times', async () => {
    const numbers = [0, 0.25, 0.5, 0.999]
    const admission = createAdmission({ limit: 1, random: () => numbers.shift() ?? 0 })
    expect(enters(admission)).toBe(true)
    const sheds = await Promise.all([1, 2, 3, 4].map(() => admission.enter(fakeRequest('prefetch').context)))
    const headers = sheds.map((shed) => shed?.headers)
    expect(headers).toEqual([1, 2, 3, 4].map((seconds) => ['Retry-After', String(seconds)]))
  })

  test('says in log and metrics why', async () => {
    const admission = createAdmission({ limit: 1 })
    enters(admission)
    const { context } = fakeRequest('prefetch')
    expect(await admission.enter(context)).toMatchObject({ reason: 'places' })
    expect(context.record).toEqual({ shed: 'places', refused: 'too many answers in progress' })
    overload(admission)
    const { context: prefetch } = fakeRequest('prefetch')
    expect(await admission.enter(prefetch)).toMatchObject({ reason: 'load' })
    expect(prefetch.record).toEqual({ shed: 'load', refused: 'too much load' })
  })

  test('of a document for load is sent a little later, so that asking again at once takes no time of others', async () => {
    const delays: number[] = []
    const admission = createAdmission({
      limit: 1_000,
      random: () => 0.5,
      after(milliseconds, run) {
        delays.push(milliseconds)
        run()
      },
    })
    overload(admission)
    const shedOf = (kind: 'document' | 'data') => admission.enter(fakeRequest(kind).context)
    const sheds = await Promise.all(Array.from({ length: 100 }, () => shedOf('document')))
    const refused = sheds.filter((shed) => shed !== undefined)
    expect(refused.length).toBeGreaterThan(80)
    await Promise.all(refused.map((shed) => shed.delay()))
    expect(delays).toEqual(refused.map(() => 350))
    expect((await shedOf('data'))?.delay()).toBeUndefined()
  })
})

describe('under load', () => {
  test('prefetches are refused first, spread evenly', () => {
    const admission = createAdmission({ limit: 1_000 })
    admission.sample({ latenessMs: 101, utilization: 1 })
    for (let sample = 0; sample < 4; sample += 1) admission.sample({ latenessMs: 101, utilization: 1 })
    const admitted = Array.from({ length: 100 }, () => enters(admission, 'prefetch'))
    expect(admitted.filter(Boolean)).toHaveLength(60)
    expect(admitted.slice(0, 50).filter(Boolean)).toHaveLength(30)
    for (const kind of ['data', 'document', 'action'] as const) expect(enters(admission, kind)).toBe(true)
  })

  test('a tenth of documents and actions is still let in, and no data', () => {
    const admission = createAdmission({ limit: 1_000 })
    overload(admission)
    const count = (kind: Parameters<typeof fakeRequest>[0]): number =>
      Array.from({ length: 100 }, () => enters(admission, kind)).filter(Boolean).length
    expect([count('prefetch'), count('data')]).toEqual([0, 0])
    for (const kind of ['document', 'action'] as const) expect(Math.abs(count(kind) - 10)).toBeLessThanOrEqual(1)
  })
})

describe('a client', () => {
  const OFFICE = '198.51.100.7'
  const admittedOf = (admission: Admission, address: string, asked: number): number =>
    Array.from({ length: asked }, () => enters(admission, 'document', address)).filter(Boolean).length

  test('that is alone has all places, and each of the others finds some of a further quarter', () => {
    const admission = createAdmission({ limit: 16 })
    expect(admittedOf(admission, OFFICE, 100)).toBe(16)
    expect(admittedOf(admission, '2001:db8:0:1::1', 3)).toBe(2)
    expect(admission.isOverloaded).toBe(false)
    // Half of what is left, so that one more finds a place.
    expect(admittedOf(admission, '2001:db8:0:2::1', 100)).toBe(1)
    expect(admittedOf(admission, '2001:db8:0:3::1', 100)).toBe(1)
    expect(admission.pending).toBe(20)
    expect(admission.waiting).toBe(84 + 1 + 99 + 99)
  })

  test('that shares all places with one other leaves the instance ready, and a newcomer finds one', () => {
    const admission = createAdmission({ limit: 8 })
    for (const address of [OFFICE, '192.0.2.200']) expect(admittedOf(admission, address, 4)).toBe(4)
    expect([admission.pending, admission.isOverloaded]).toEqual([8, false])
    expect(enters(admission)).toBe(true)
  })

  test('is refused where it has half of all that wait, and the log says that it may be a proxy', async () => {
    const told: string[] = []
    const admission = createAdmission({ limit: 8, onGreedy: (client) => told.push(client) })
    expect(admittedOf(admission, OFFICE, 8 + 500)).toBe(8)
    expect(told).toEqual([])
    const { context } = fakeRequest('document', OFFICE)
    expect(await admission.enter(context)).toMatchObject({ reason: 'client' })
    expect(context.record).toEqual({ shed: 'client', refused: 'too many answers in progress for one client' })
    expect(told).toEqual([OFFICE])
    expect(admission.waiting).toBe(500)
  })

  test('that has all places leaves the instance ready, and several that have all do not', () => {
    const admission = createAdmission({ limit: 8 })
    admittedOf(admission, OFFICE, 100)
    expect(admission.isOverloaded).toBe(false)
    overload(admission)
    expect([admission.load.overloaded, admission.isOverloaded]).toEqual([true, false])
    const calm = createAdmission({ limit: 8 })
    for (const address of [OFFICE, newAddress(), newAddress()]) admittedOf(calm, address, 100)
    expect([calm.pending, calm.isOverloaded]).toEqual([10, true])
    const late = createAdmission({ limit: 1_000 })
    overload(late)
    expect(late.isOverloaded).toBe(true)
  })

  test('that has most of what is in progress is refused for load before the others are', () => {
    const admission = createAdmission({ limit: 1_000 })
    admittedOf(admission, OFFICE, 20)
    enters(admission)
    // Data is refused, and no document yet.
    while (admission.load.pressure < 2) admission.sample({ latenessMs: 500, utilization: 1 })
    expect(admittedOf(admission, OFFICE, 10)).toBe(0)
    expect(Array.from({ length: 10 }, () => enters(admission)).filter(Boolean)).toHaveLength(10)
  })

  test('that has most of it has others refused for no load, data included', () => {
    const admission = createAdmission({ limit: 1_000 })
    admittedOf(admission, OFFICE, 20)
    overload(admission)
    for (const kind of ['document', 'data'] as const) {
      expect(Array.from({ length: 8 }, () => enters(admission, kind)).filter(Boolean)).toHaveLength(8)
    }
    expect(admittedOf(admission, OFFICE, 10)).toBe(0)
  })

  test.for([2, 3, 6])(
    'that has most of it together with others, %i in all, has newcomers refused for no load',
    (count) => {
      const admission = createAdmission({ limit: 1_000 })
      const few = Array.from({ length: count }, () => newAddress())
      for (const address of few) admittedOf(admission, address, 20)
      enters(admission)
      overload(admission)
      for (const kind of ['document', 'data'] as const) {
        expect(Array.from({ length: 5 }, () => enters(admission, kind)).filter(Boolean)).toHaveLength(5)
      }
      for (const address of few) expect(admittedOf(admission, address, 10)).toBeLessThan(3)
      expect([admission.load.overloaded, admission.isOverloaded]).toEqual([true, false])
    },
  )

  test.for([9, 20, 40])('with fewer requests than most is refused by what it would wait itself: %i others', (count) => {
    const admission = createAdmission({ limit: 1_000 })
    const many = Array.from({ length: count }, () => newAddress())
    for (const address of many) admittedOf(admission, address, 4)
    const inProgress = admission.pending
    for (let sample = 0; sample < 50; sample += 1) {
      admission.sample({ latenessMs: 4_000, newcomerMs: 90, utilization: 1 })
    }
    expect(admission.isOverloaded).toBe(false)
    for (const kind of ['document', 'data', 'prefetch'] as const) {
      expect(Array.from({ length: 5 }, () => enters(admission, kind)).filter(Boolean)).toHaveLength(5)
    }
    for (const address of many) expect(admittedOf(admission, address, 5)).toBeLessThan(3)
    expect(admission.pending).toBeGreaterThan(inProgress)
    overload(admission)
    expect(admission.isOverloaded).toBe(count > 8)
    expect(Array.from({ length: 20 }, () => enters(admission)).filter(Boolean).length).toBeLessThan(4)
  })

  test('is refused as before where many have the load', () => {
    const admission = createAdmission({ limit: 1_000 })
    for (let client = 0; client < 20; client += 1) admittedOf(admission, newAddress(), 5)
    overload(admission)
    expect(Array.from({ length: 20 }, () => enters(admission)).filter(Boolean).length).toBeLessThan(4)
    expect(admission.isOverloaded).toBe(true)
  })

  test('counts as the one with the load for three seconds longer: refused, it holds little', () => {
    const clock = { now: 0 }
    const admission = createAdmission({ limit: 1_000, now: () => clock.now })
    const held = Array.from({ length: 20 }, () => fakeRequest('document', OFFICE))
    for (const { context } of held) admission.enter(context)
    overload(admission)
    enters(admission, 'document', OFFICE)
    for (const { finish } of held) finish()
    const othersIn = (): number => Array.from({ length: 8 }, () => enters(admission)).filter(Boolean).length
    clock.now += 2_999
    expect(othersIn()).toBe(8)
    clock.now += 2
    expect(othersIn()).toBeLessThan(2)
  })

  test('that is alone is not: all visitors may come by one proxy', () => {
    const admission = createAdmission({ limit: 1_000 })
    admittedOf(admission, OFFICE, 20)
    while (admission.load.pressure < 2) admission.sample({ latenessMs: 500, utilization: 1 })
    expect(admittedOf(admission, OFFICE, 10)).toBe(10)
  })
})
