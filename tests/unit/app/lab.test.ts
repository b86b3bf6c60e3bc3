import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { boundedInteger } from '../../../src/app/lab/bounded-integer.server.ts'
import { neighboursOf } from '../../../src/app/lab/cache/neighbours.ts'
import { LAB_GROUPS } from '../../../src/app/lab/catalogue.ts'
import { sendTicks } from '../../../src/app/lab/events/send-ticks.server.ts'
import { createAttemptCounter } from '../../../src/app/lab/flaky/attempt-counter.server.ts'
import type { EventStream } from '../../../src/server/api/event-stream.ts'
import { routes } from '../../../src/app/routes.ts'
import { rules } from '../../../src/app/rules.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'

describe('a bounded search param', () => {
  const schema = boundedInteger({ min: 1, max: 100, fallback: 10 })
  it.each([
    ['42', 42],
    ['0', 1],
    ['999999999', 100],
    ['', 10],
    ['-1', 10],
    ['1.5', 10],
    ['1e9', 10],
    ['many', 10],
    [undefined, 10],
    [['1', '2'], 10],
  ])('reads %j as %j', (given, expected) => {
    expect(schema.parse(given)).toBe(expected)
  })
})

describe('the neighbours of a cache key', () => {
  it.each([
    ['1', ['1', '2', '3', '4', '5']],
    ['7', ['5', '6', '7', '8', '9']],
    ['other', ['1', '2', '3', '4', '5']],
    ['0', ['1', '2', '3', '4', '5']],
    ['99999999999999999999', ['1', '2', '3', '4', '5']],
  ])('of %s are %j', (key, expected) => {
    expect(neighboursOf(key)).toEqual(expected)
  })
})

describe('the requests for a flaky key', () => {
  it('are counted by key, the present one included', () => {
    const attempts = createAttemptCounter(10)
    expect(['a', 'b', 'a', 'a', 'b'].map((key) => attempts.count(key))).toEqual([1, 1, 2, 3, 2])
  })

  it('are forgotten for the key that was asked for longest ago, once there are too many', () => {
    const attempts = createAttemptCounter(2)
    for (const key of ['a', 'b', 'a', 'c']) attempts.count(key)
    expect(attempts.count('a')).toBe(3)
    expect(attempts.count('b')).toBe(1)
  })
})

describe('the event stream', () => {
  it('begins with a tick at once, ends after the last, and leaves no timer behind', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const [send, end] = [vi.fn<EventStream['send']>(), vi.fn<EventStream['end']>()]
    const stop = sendTicks({ send, end })
    expect(send.mock.calls).toEqual([[{ id: '1', event: 'tick', data: { tick: 1 } }]])
    vi.advanceTimersByTime(1_000)
    expect(send).toHaveBeenLastCalledWith({ id: '2', event: 'tick', data: { tick: 2 } })
    vi.advanceTimersByTime(298_000)
    expect([send.mock.calls.length, end.mock.calls.length]).toEqual([300, 0])
    vi.advanceTimersByTime(1_000)
    expect([send.mock.calls.length, end.mock.calls.length]).toEqual([300, 1])
    stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the overview of the lab', () => {
  const table = createRouteTable(routes)
  const entries = LAB_GROUPS.flatMap((group) => group.entries)
  const pathOf = (href: string) => new URL(href, 'http://site.test').pathname

  it('links to nothing that is not there', () => {
    const ruleSources = [...(rules.redirects ?? []), ...(rules.rewrites as { source: string }[])].map(
      ({ source }) => source,
    )
    const isRule = (path: string) => ruleSources.some((source) => path.startsWith(source.replace(/:.*$/, '')))
    const dead = entries.filter(({ href }) => !isRule(pathOf(href)) && table.match(pathOf(href)) === undefined)
    expect(dead).toEqual([])
  })

  it('has a card for every page of the lab', () => {
    const linked = new Set(entries.map(({ href }) => table.match(pathOf(href))?.route.pattern))
    const pages = table.routes.map(({ pattern }) => pattern).filter((pattern) => pattern.startsWith('/lab/'))
    expect(pages.length).toBeGreaterThan(20)
    // What is reported has no address before it has happened; the inbox links to it. Sources are linked beside experiments.
    const elsewhere = /^\/lab\/(?:reports|source)\//
    const unlinked = pages.filter((pattern) => !linked.has(pattern) && !elsewhere.test(pattern))
    expect(unlinked).toEqual([])
  })

  it('shows no card twice', () => {
    expect(new Set(entries.map(({ href }) => href)).size).toBe(entries.length)
  })
})
