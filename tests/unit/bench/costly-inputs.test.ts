import { describe, expect, test } from 'vitest'
import zlib from 'node:zlib'
import { costlyInputs } from '../../bench/costly-inputs.ts'
import { costliest, perKib } from '../../bench/input-costs.ts'

const cost = (name: string, milliseconds: number, bytes: number, coding?: string) => ({
  name,
  coding,
  milliseconds,
  bytes,
  status: 200,
})

describe('the costliest inputs', () => {
  test('are ranked by what they cost for each byte on the wire, each in its costliest coding', () => {
    const costs = [
      cost('cheap', 1, 1_024),
      cost('bomb', 10, 10_240),
      cost('bomb', 10, 512, 'br'),
      cost('bomb', 10, 1_024, 'gzip'),
      cost('large', 100, 1_024_000),
    ]
    expect(costliest(costs, 2)).toEqual([cost('bomb', 10, 512, 'br'), cost('cheap', 1, 1_024)])
    expect(perKib(costs[2] ?? cost('', 0, 1))).toBe(20)
  })

  test('come as they are and in each coding, with the length of what is sent', () => {
    const inputs = costlyInputs({ relay: '/in', dsn: 'http://key@localhost/1', reports: ['/lab/reports/1'] })
    const bodyOf = (request: Buffer): Buffer => request.subarray(request.indexOf('\r\n\r\n') + 4)
    for (const { request, name } of inputs) {
      const length = /^Content-Length: (\d+)\r$/im.exec(request.toString('latin1'))?.[1]
      expect([name, bodyOf(request).length]).toEqual([name, Number(length ?? 0)])
    }
    const events = inputs.filter(({ name }) => name === 'envelope: one event')
    expect(events.map(({ coding }) => coding)).toEqual([undefined, 'gzip', 'deflate', 'br', 'zstd'])
    const [plain, gzip] = events.map(({ request }) => bodyOf(request))
    expect(zlib.gunzipSync(gzip ?? Buffer.alloc(0))).toEqual(plain)
    const codings = (named: string): unknown =>
      inputs
        .filter(({ name }) => name === named)
        .map(({ request, coding }) => [coding, /-Encoding: (\w+)/.exec(`${request}`)?.[1]])
    const asked = ['zstd', 'br', 'gzip'].map((coding) => [coding, coding])
    expect(codings('answer: report 1')).toEqual([[undefined, undefined], ...asked])
    const sent = ['gzip', 'deflate', 'br', 'zstd'].map((coding) => [coding, coding])
    for (const name of ['form: compressed', 'JSON: compressed', 'policy reports']) {
      expect(codings(name)).toEqual([[undefined, undefined], ...sent])
    }
  })
})
