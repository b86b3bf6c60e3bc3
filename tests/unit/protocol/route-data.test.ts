import { array, assert, asyncProperty, boolean, constantFrom, nat, option, record, uniqueArray } from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createRouteDataWriter } from '../../../src/shared/protocol/encode-route-data.ts'
import type { RouteDataHead, SegmentMeta, SegmentValues } from '../../../src/shared/protocol/route-data.ts'
import { readAnswer } from './read-answer.ts'
import { richValues } from './rich-values.ts'
import { cut, pieceStream, stateOf } from './text-stream.ts'

const OPEN = new AbortController().signal
const HEAD = { build: 'b1', route: '/mills/[id]', params: { id: '7', rest: ['a', 'b'] }, scope: 'path' } as const

/** A writer that keeps its lines. */
function writer(signal: AbortSignal = OPEN) {
  const lines: string[] = []
  return {
    lines,
    answer: createRouteDataWriter(
      (line) => lines.push(line),
      signal,
      (reason) => reason,
    ),
  }
}

/** Writes segments after the usual head. */
async function written(...segments: readonly (readonly [string, SegmentValues, SegmentMeta?])[]): Promise<string[]> {
  const { lines, answer } = writer()
  answer.head(HEAD)
  for (const [id, values, meta = {}] of segments) answer.segment(id, values, meta)
  await answer.finish()
  return lines
}

const read = (lines: readonly string[]) => readAnswer(pieceStream([lines.join('')]))

/** A deferred member, before it is a promise. */
const deferred = record({ kept: boolean(), value: richValues(1), turn: nat(9) })

const segment = record({
  id: constantFrom('/#layout', '/#page', '/mills#layout', '/mills/[id]#page', '\n"{}'),
  plain: richValues(2),
  late: option(array(deferred, { maxLength: 3 }), { nil: undefined }),
  search: option(richValues(1), { nil: undefined }),
  meta: constantFrom<SegmentMeta>({}, { uses: true }, { uses: ['q'], lifetime: 0, tags: ['a'] }),
})

describe('an answer arrives as it was written', () => {
  test('with several segments at once, deferred values in any order, and the text cut anywhere', async () => {
    const segments = uniqueArray(segment, { selector: ({ id }) => id, maxLength: 4 })
    const places = array(nat(1000), { maxLength: 12 })
    await assert(
      asyncProperty(segments, places, async (segments, places) => {
        const { lines, answer } = writer()
        answer.head(HEAD)
        const turns: { turn: number; settle: () => void }[] = []
        for (const { id, plain, late, search, meta } of segments) {
          const promises = late?.map(({ kept, value, turn }, index) => {
            const { promise, resolve, reject } = Promise.withResolvers<unknown>()
            turns.push({ turn, settle: () => (kept ? resolve(value) : reject({ digest: `${id}${index}` })) })
            return promise
          })
          answer.segment(id, { data: { plain, ...promises }, search }, meta)
        }
        for (const { settle } of turns.toSorted((a, b) => a.turn - b.turn)) settle()
        await answer.finish()

        const {
          failed,
          head,
          segments: received,
          contents,
        } = await readAnswer(pieceStream(cut(lines.join(''), places)))
        expect(failed).toBeUndefined()
        expect(head).toEqual({ v: 1, ...HEAD })
        expect([...received.keys()].toSorted()).toEqual(segments.map(({ id }) => id).toSorted())
        expect([...contents.keys()].toSorted()).toEqual([...received.keys()].toSorted())
        for (const { id, plain, late = [], search, meta } of segments) {
          const { segment, values, ...facts } = received.get(id) ?? {}
          expect({ segment, facts }).toEqual({ segment: id, facts: meta })
          expect(values?.search).toStrictEqual(search)
          const { plain: arrived, ...promises } = (values?.data ?? {}) as Record<string, Promise<unknown>>
          expect(arrived).toStrictEqual(plain)
          for (const [index, { kept, value }] of late.entries()) {
            const settled = (promises[index] as Promise<unknown>).then(
              (kept: unknown) => ({ kept }),
              (broken: unknown) => ({ broken }),
            )
            expect(await settled).toStrictEqual(kept ? { kept: value } : { broken: { digest: `${id}${index}` } })
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  test.for<[string, Omit<RouteDataHead, 'v'>]>([
    ['a redirect', { build: 'b', redirect: { to: '/x' } }],
    ['a redirect to another site', { build: 'b', redirect: { to: 'https://a.test/', external: true } }],
    ['a document', { build: 'b', document: true }],
    ['no route', { build: 'b', route: null, params: {} }],
  ])('as nothing but %s', async ([, head]) => {
    const { lines, answer } = writer()
    answer.head(head)
    await answer.finish()
    const arrived = await read(lines)
    expect(arrived).toMatchObject({ failed: undefined, head: { v: 1, ...head }, calls: ['head'] })
  })

  test.for<NonNullable<RouteDataHead['redirect']>>([{ to: '/x' }, { to: 'https://a.test/', external: true }])(
    'of an action that leads to what is no page of the table: what it drops',
    async (redirect) => {
      const { lines, answer } = writer()
      answer.head({ build: 'b', redirect })
      answer.segment('#action', { data: { revalidate: ['/*'] } }, { lifetime: 0 })
      await answer.finish()
      const { failed, head, segments } = await read(lines)
      expect(failed).toBeUndefined()
      expect(head).toMatchObject({ redirect })
      expect(segments.get('#action')?.values.data).toEqual({ revalidate: ['/*'] })
    },
  )

  test('with a verdict after a segment', async () => {
    const { lines, answer } = writer()
    answer.head(HEAD)
    answer.segment('/#layout', { data: 1 }, {})
    answer.outcome({ kind: 'error', at: 1, digest: 'd' })
    answer.redirect({ to: '/login' })
    await answer.finish()
    expect(await read(lines)).toMatchObject({
      failed: undefined,
      outcomes: [{ kind: 'error', at: 1, digest: 'd' }],
      redirects: [{ to: '/login' }],
      calls: ['head', 'segment /#layout', 'settled /#layout', 'outcome', 'redirect'],
    })
  })
})

describe('on the wire', () => {
  test('plain data stands in its record, and what is as by default is left out', async () => {
    const lines = await written(
      ['/#layout', { data: undefined }, { uses: [], lifetime: 60, tags: [] }],
      ['/#page', { data: { a: 'x\ny' }, search: { q: 1 } }, { uses: ['q'], lifetime: 5, tags: ['t'] }],
    )
    expect(lines.slice(1)).toEqual([
      '{"segment":"/#layout"}\n',
      '{"segment":"/#page","data":{"a":"x\\ny"},"search":{"q":1},"uses":["q"],"lifetime":5,"tags":["t"]}\n',
      '{"done":true}\n',
    ])
  })

  test('one write is one line, whatever its length; a large value lets others through', async () => {
    const big = '\n😀'.repeat(100_000)
    const lines = await written(['/#layout', { data: { big, at: new Date(0) } }], ['/#page', { data: new Date(1) }])
    expect(lines.length).toBeGreaterThan(8)
    for (const line of lines) expect(line.indexOf('\n')).toBe(line.length - 1)
    expect((await read(lines)).segments.get('/#layout')?.values.data).toEqual({ big, at: new Date(0) })
  })

  test('a segment does not wait for the deferred values of another', async () => {
    const { lines, answer } = writer()
    const late = Promise.withResolvers<string>()
    answer.head(HEAD)
    answer.segment('/#layout', { data: { late: late.promise } }, {})
    answer.segment('/#page', { data: 1 }, {})
    expect(lines.at(-1)).toBe('{"segment":"/#page","data":1}\n')
    late.resolve('x')
    await answer.finish()
    expect(lines.at(-1)).toBe('{"done":true}\n')
    expect((await read(lines)).calls).toEqual([
      'head',
      'segment /#layout',
      'segment /#page',
      'settled /#page',
      'settled /#layout',
    ])
  })

  test('a value that throws leaves no trace, and the answer goes on', async () => {
    const { lines, answer } = writer()
    answer.head(HEAD)
    const data = {
      at: new Date(0),
      get price() {
        throw new Error('canary')
      },
    }
    expect(() => answer.segment('/#page', { data }, {})).toThrow('canary')
    answer.segment('/#layout', { data: new Date(1) }, {})
    await answer.finish()
    expect(await read(lines)).toMatchObject({
      failed: undefined,
      calls: ['head', 'segment /#layout', 'settled /#layout'],
    })
  })

  test('nothing is written after the signal, and nobody waits for ever', async () => {
    const gone = new AbortController()
    const { lines, answer } = writer(gone.signal)
    answer.head(HEAD)
    answer.segment('/#page', { data: { late: new Promise(() => undefined) } }, {})
    const before = lines.length
    gone.abort()
    answer.segment('/#layout', { data: { late: Promise.reject(new Error('x')) } }, {})
    answer.outcome({ kind: 'notFound', at: 0 })
    await answer.finish()
    expect(lines).toHaveLength(before)
    expect(await read(lines)).toMatchObject({ failed: { kind: 'truncated' } })
  })

  test('what the connection throws reaches whoever finishes, however late that is', async () => {
    const late = Promise.withResolvers<string>()
    const write = vi.fn<(line: string) => void>()
    const answer = createRouteDataWriter(write, OPEN)
    answer.head(HEAD)
    answer.segment('/#page', { data: { late: late.promise } }, {})
    write.mockImplementation(() => {
      throw new Error('broken pipe')
    })
    const unhandled = vi.fn<(reason: unknown) => void>()
    process.on('unhandledRejection', unhandled)
    late.resolve('x')
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
    await expect(answer.finish()).rejects.toThrow('broken pipe')
  })
})

describe('what a reader learns of a segment', () => {
  test('its content is the same for the same values, however it is cut, and another for any change', async () => {
    const contentOf = async (values: SegmentValues, places: readonly number[] = []) => {
      const text = (await written(['/#page', values])).join('')
      return (await readAnswer(pieceStream(cut(text, places)))).contents.get('/#page')?.content
    }
    const rich = (value: number) => ({ data: { at: new Date(value), late: Promise.resolve(value) } })
    expect(await contentOf({ data: [1, 2] }, [3, 500, 700])).toBe(await contentOf({ data: [1, 2] }))
    expect(await contentOf(rich(1), [3, 500, 700])).toBe(await contentOf(rich(1)))
    const contents = await Promise.all(
      Array.from({ length: 2000 }, (_, n) =>
        contentOf(n % 2 === 0 ? { data: n } : { data: { late: Promise.resolve(n) } }),
      ),
    )
    expect(new Set(contents).size).toBe(2000)
  })

  test('its size is that of all its lines', async () => {
    const lines = await written(['/#page', { data: { at: new Date(0), late: Promise.resolve(1) } }])
    const mine = lines.slice(1, 4)
    expect(mine.map((line) => Object.keys(JSON.parse(line) as object)[0])).toEqual(['segment', 'chunk', 'chunk'])
    const size = mine.join('').length - mine.length
    expect((await read(lines)).contents.get('/#page')).toMatchObject({ size })
  })

  test('it is there before its deferred members, and settled after them', async () => {
    const lines = await written(['/#page', { data: { late: Promise.resolve(1) } }])
    const reading = await readAnswer(pieceStream(lines.slice(0, 3), { fails: new Error('stop') }))
    expect(reading.calls).toEqual(['head', 'segment /#page'])
  })
})

describe('an answer that breaks off', () => {
  const failure = new TypeError('network')

  test.for<[string, Parameters<typeof pieceStream>[1], unknown]>([
    ['by the network', { fails: failure }, failure],
    ['by its end', 'ends', expect.objectContaining({ name: 'RouteDataError', kind: 'truncated' })],
  ])('%s breaks what is still deferred, and nothing else', async ([, end, reason]) => {
    const { lines, answer } = writer()
    const never = (): Promise<number> => new Promise(() => undefined)
    answer.head(HEAD)
    answer.segment('/#layout', { data: { soon: Promise.resolve(1) } }, {})
    answer.segment('/#page', { data: { late: never(), deep: Promise.resolve({ inner: never() }) } }, {})
    await new Promise((resolve) => setImmediate(resolve))
    const { failed, segments } = await readAnswer(pieceStream(lines, end))
    expect(failed).toEqual(reason)
    const layout = segments.get('/#layout')?.values.data as { soon: Promise<number> }
    expect(await layout.soon).toBe(1)
    const page = segments.get('/#page')?.values.data as {
      late: Promise<number>
      deep: Promise<{ inner: Promise<number> }>
    }
    await expect(page.late).rejects.toBe(failed)
    await expect((await page.deep).inner).rejects.toBe(failed)
  })

  test('after its last record is complete', async () => {
    const lines = await written(['/#page', { data: 1 }])
    expect(await readAnswer(pieceStream(lines, { fails: failure }))).toMatchObject({ failed: undefined })
  })

  test('stays open while the network is silent', async () => {
    const lines = await written(['/#page', { data: 1 }])
    const reading = readAnswer(pieceStream(lines.slice(0, -1), 'stays'))
    expect(await stateOf(reading)).toBe('open')
  })

  test('because the sink throws, is cancelled with that, and breaks what is deferred', async () => {
    const lines = await written(['/#layout', { data: { late: Promise.resolve(1) } }], ['/#page', { data: 1 }])
    const [head = '', record = '', root = '', other = ''] = lines
    const stream = pieceStream([head, record, root, other])
    const refusal = new Error('not mine')
    const { failed, segments } = await readAnswer(stream, {
      settled() {
        throw refusal
      },
    })
    expect(failed).toBe(refusal)
    expect(stream.cancelled.with).toBe(refusal)
    const layout = segments.get('/#layout')?.values.data as { late: Promise<number> }
    await expect(layout.late).rejects.toBe(refusal)
  })
})
