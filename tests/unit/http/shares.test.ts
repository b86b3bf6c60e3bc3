import { assert, array, boolean, constantFrom, integer, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createShares, judgeShare, warnOfOneAddress } from '../../../src/server/http/shares.ts'
import { parseProxyTrust } from '../../../src/server/http/trusted-proxy.ts'

describe('a share', () => {
  test.for([
    // own, all, most
    [1, 1, 16, undefined],
    [8, 8, 16, undefined],
    [9, 9, 16, 'client'],
    [4, 9, 16, undefined],
    [5, 9, 16, 'client'],
    [4, 16, 16, undefined],
    [1, 17, 16, 'full'],
    [5, 17, 16, 'full'],
    // No whole number is half, or a quarter.
    [3, 3, 5, undefined],
    [4, 4, 5, 'client'],
    [2, 5, 5, undefined],
    // Below 4 there is no quarter.
    [3, 3, 3, undefined],
    [1, 1, 1, undefined],
    [2, 2, 1, 'full'],
  ] as const)('with %i of %i taken, of %i: %s', ([own, all, most, verdict]) => {
    expect(judgeShare({ own, all, most })).toBe(verdict)
  })
})

describe('a share where each client leaves as much as it holds', () => {
  test.for([
    // own, all, most
    [8, 8, 16, undefined],
    [9, 9, 16, 'client'],
    [4, 12, 16, undefined],
    [5, 12, 16, 'client'],
    [2, 14, 16, undefined],
    [3, 14, 16, 'client'],
    [1, 16, 16, undefined],
    [2, 16, 16, 'client'],
    [1, 17, 16, 'full'],
    [3, 3, 3, undefined],
  ] as const)('with %i of %i taken, of %i: %s', ([own, all, most, verdict]) => {
    expect(judgeShare({ own, all, most, halves: true })).toBe(verdict)
  })

  test('leaves something for newcomers until ten clients take what they can get', () => {
    const shares = createShares({ most: () => 2_000, halves: true })
    const taken = Array.from({ length: 11 }, (_, client) => {
      let own = 0
      while (shares.take(String(client)) === undefined) own += 1
      return own
    })
    expect(taken).toEqual([1_000, 500, 250, 125, 62, 31, 16, 8, 4, 2, 1])
    expect(shares.take('newcomer')).toBeUndefined()
    expect(shares.take('another')).toBe('full')
  })
})

describe('shares', () => {
  test('leave each client a quarter, whatever one other client does', () => {
    const step = record({ take: boolean(), amount: integer({ min: 1, max: 9 }) })
    assert(
      property(integer({ min: 4, max: 200 }), array(step, { maxLength: 100 }), (most, steps) => {
        const shares = createShares({ most: () => most })
        const held: number[] = []
        for (const { take, amount } of steps) {
          if (!take) shares.give('greedy', held.pop() ?? 0)
          else if (shares.take('greedy', amount) === undefined) held.push(amount)
          expect(shares.of('greedy')).toBeLessThanOrEqual(Math.ceil(most / 2))
        }
        for (let one = 0; one < Math.floor(most / 4); one += 1) expect(shares.take('honest')).toBeUndefined()
      }),
    )
  })

  test('are all back when everything is given back', () => {
    assert(
      property(
        array(record({ client: constantFrom('a', 'b', undefined), amount: integer({ min: 1, max: 5 }) })),
        (steps) => {
          const shares = createShares({ most: () => 20 })
          const held = steps.filter(({ client, amount }) => shares.take(client, amount) === undefined)
          expect(shares.taken).toBe(held.reduce((sum, { amount }) => sum + amount, 0))
          for (const { client, amount } of held) shares.give(client, amount)
          expect([shares.taken, shares.of('a'), shares.of('b')]).toEqual([0, 0, 0])
        },
      ),
    )
  })

  test('do not limit a client for whom the bound alone counts', () => {
    const shares = createShares({ most: () => 8 })
    const taken = Array.from({ length: 20 }, () => shares.take(undefined)).filter((refusal) => refusal === undefined)
    expect(taken).toHaveLength(8)
  })

  test("know whether most of what is held is one client's", () => {
    const shares = createShares({ most: () => 8 })
    expect(shares.isOneClients).toBe(false)
    shares.take('a')
    expect(shares.isOneClients).toBe(true)
    shares.take('b')
    expect(shares.isOneClients).toBe(false)
  })
})

describe('a client that holds half of everything', () => {
  test('is named in one line of the log where no proxy is', () => {
    const lines: unknown[] = []
    const onGreedy = warnOfOneAddress(parseProxyTrust([]), { warn: (...line: unknown[]) => void lines.push(line) })
    const shares = createShares({ most: () => 8, onGreedy })
    for (let asked = 0; asked < 20; asked += 1) shares.take('198.51.100.7')
    expect(lines).toEqual([[{ address: '198.51.100.7' }, expect.stringContaining('TRUST_PROXY')]])
  })

  test('is not where others hold the rest, and where proxies are named', () => {
    const told: string[] = []
    const shares = createShares({ most: () => 8, onGreedy: (client) => told.push(client) })
    for (const client of ['a', 'b', 'c', 'd', 'a', 'a', 'a']) shares.take(client)
    expect(told).toEqual([])
    expect(warnOfOneAddress(parseProxyTrust(['10.0.0.0/8']), { warn: () => undefined })).toBeUndefined()
  })
})
