import { array, assert, asyncProperty, constantFrom, integer, jsonValue, nat, oneof, string } from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { html } from '../../../src/shared/protocol/html.ts'
import { RouteDataError } from '../../../src/shared/protocol/decode-route-data.ts'
import { createRouteDataWriter } from '../../../src/shared/protocol/encode-route-data.ts'
import { readAnswer, type ReadAnswer } from './read-answer.ts'
import { cut, pieceStream, promisesIn, stateOf } from './text-stream.ts'

const HEAD = '{"v":1,"build":"b","route":"/","params":{},"scope":"path"}'
const DONE = '{"done":true}'
const STREAM = '{"segment":"/#page","stream":0}'
const ROOT = String.raw`{"chunk":0,"text":"[[0],{\"data\":[1]},{\"late\":[2]},[\"Promise\"]]\n"}`
const LATE = String.raw`{"chunk":0,"text":"[2,1,5]\n"}`
const END = '{"end":0}'

const unhandled: unknown[] = []
const keep = (reason: unknown): void => void unhandled.push(reason)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', keep)
})

afterEach(() => void process.off('unhandledRejection', keep))

/** An answer with all kinds of records, as a server writes it. */
async function sample(): Promise<string[]> {
  const lines: string[] = []
  const answer = createRouteDataWriter((line) => lines.push(line), new AbortController().signal)
  const shared = { name: 'é😀' }
  answer.head({ build: 'b', route: '/mills/[id]', params: { id: '1' }, scope: 'url' })
  answer.segment(
    '/#layout',
    { data: { shared, at: new Date(0), body: html('<b>é</b>'), late: Promise.resolve([shared, html('late')]) } },
    { tags: ['t'] },
  )
  answer.segment('/mills#layout', { data: { text: 'a\nb' } }, { uses: true })
  answer.segment(
    '/mills/[id]#page',
    { data: { bad: Promise.reject({ digest: 'd' }), map: new Map([[shared, new Set([-0])]]) }, search: { q: 'x' } },
    { lifetime: 0 },
  )
  answer.outcome({ kind: 'notFound', at: 1 })
  await answer.finish()
  return lines
}

/** Reads a text, and sees that nothing of it hangs and that it fails in no way but the one it may. */
async function expectTyped(pieces: readonly string[]): Promise<ReadAnswer> {
  const stream = pieceStream(pieces)
  const answer = await readAnswer(stream)
  if (answer.failed !== undefined) {
    expect(answer.failed).toBeInstanceOf(RouteDataError)
    expect(stream.cancelled.with).toBe(answer.failed)
  }
  const promises = [...answer.segments.values()].flatMap(({ values }) => promisesIn(values))
  const states = await Promise.all(promises.map(stateOf))
  expect(states).not.toContain('open')
  await new Promise((resolve) => setImmediate(resolve)) // rejections that nobody handles are known by then
  expect(unhandled).toEqual([])
  expect(Object.keys(Object.prototype)).toEqual([])
  return answer
}

const kindOf = ({ failed }: ReadAnswer): unknown => (failed instanceof RouteDataError ? failed.kind : failed)
const kindOfLines = async (...lines: string[]): Promise<unknown> =>
  kindOf(await expectTyped([lines.map((line) => `${line}\n`).join('')]))

describe('a broken answer', () => {
  test('the sample itself is whole', async () => {
    const answer = await expectTyped(await sample())
    expect(answer.failed).toBeUndefined()
    expect(answer.segments.size).toBe(3)
    expect(await kindOfLines(HEAD, STREAM, ROOT, LATE, END, DONE)).toBeUndefined()
  })

  test('cut off at any character is truncated', async () => {
    const text = (await sample()).join('')
    for (let length = 0; length < text.length; length += 1) {
      expect(kindOf(await expectTyped([text.slice(0, length)]))).toBe('truncated')
    }
  })

  test('without any one of its lines, with any one twice, or with any two in the other order, is harmless', async () => {
    const lines = await sample()
    let failures = 0
    for (const [index, line] of lines.entries()) {
      const without = await expectTyped(lines.toSpliced(index, 1))
      if (!line.includes('"outcome"') && !line.includes('/mills#layout')) expect(without.failed).toBeDefined()
      const twice = await expectTyped(lines.toSpliced(index, 0, line))
      if (!line.includes('"outcome"')) expect(twice.failed).toBeDefined()
      for (let other = index + 1; other < lines.length; other += 1) {
        const swapped = lines.with(index, lines[other] ?? '').with(other, line)
        if ((await expectTyped(swapped)).failed !== undefined) failures += 1
      }
    }
    expect(failures).toBeGreaterThan(lines.length)
  })

  test('with other characters in any place is harmless', async () => {
    const text = (await sample()).join('')
    const other = oneof(constantFrom('', '"', '[', ']', '{', '}', '\\', '\n', '-', '9', ',', ':', '\0'), string())
    const changes = array(array(nat(text.length), { minLength: 1, maxLength: 1 }), { minLength: 1, maxLength: 3 })
    await assert(
      asyncProperty(changes, other, array(nat(1000), { maxLength: 4 }), async (places, other, cuts) => {
        let changed = text
        for (const [place = 0] of places) changed = changed.slice(0, place) + other + changed.slice(place + 1)
        await expectTyped(cut(changed, cuts))
      }),
      { numRuns: 1500 },
    )
  })

  test('of any JSON lines is harmless', async () => {
    const name = constantFrom(
      'segment',
      'chunk',
      'text',
      'end',
      'done',
      'outcome',
      'redirect',
      'v',
      'stream',
      'data',
      'to',
    )
    const value = oneof(jsonValue({ maxDepth: 2 }), constantFrom<unknown>(0, 1, true, null, '/#page', {}, []))
    const line = oneof(
      constantFrom(HEAD, STREAM, ROOT, LATE, END, DONE),
      jsonValue().map((json) => JSON.stringify(json)),
      array(array(oneof(name, value), { minLength: 2, maxLength: 2 }), { maxLength: 4 }).map((pairs) =>
        JSON.stringify(
          Object.fromEntries(
            pairs.map(([key, member]) => [typeof key === 'string' ? key : JSON.stringify(key), member]),
          ),
        ),
      ),
    )
    await assert(
      asyncProperty(array(line, { maxLength: 8 }), async (lines) => {
        await expectTyped([`${HEAD}\n`, ...lines.map((line) => `${line}\n`)])
      }),
      { numRuns: 1500 },
    )
  })

  test('with any frames in its streams is harmless', async () => {
    const number = oneof(integer({ min: -7, max: 6 }), constantFrom<unknown>(0.5, '0', null, 'length', '__proto__'))
    const member = oneof(array(number, { minLength: 1, maxLength: 1 }), number)
    const tag = constantFrom(
      '',
      'Map',
      'Set',
      'Promise',
      'Date',
      'URL',
      'RegExp',
      'BigInt',
      'Symbol',
      'Error',
      'Int16Array',
    )
    const key = constantFrom('data', 'search', 'then', '__proto__', 'constructor', 'toJSON')
    const node = oneof(
      array(member, { maxLength: 3 }).chain((members) => tag.map((tag) => [tag, ...members])),
      array(member, { maxLength: 3 }).chain((members) =>
        key.map((key) => JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(members[0] ?? null)}}`) as unknown),
      ),
      constantFrom(['Promise'], ['Promise']),
    )
    const root = array(node, { maxLength: 6 }).map((nodes) => [[0], ...nodes])
    const later = array(oneof(member, node, constantFrom<unknown>(0, 1, 2)), { maxLength: 5 })
    await assert(
      asyncProperty(root, array(later, { maxLength: 4 }), async (root, frames) => {
        const chunks = [root, ...frames].map((frame) =>
          JSON.stringify({ chunk: 0, text: `${JSON.stringify(frame)}\n` }),
        )
        await expectTyped([HEAD, STREAM, ...chunks, END, DONE].map((line) => `${line}\n`))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('what has been found', () => {
  test.for<[string, unknown, string[]]>([
    ['nothing', 'truncated', []],
    ['an empty line', 'malformed', ['']],
    ['a page of HTML', 'malformed', ['<!doctype html>', '<title>Sign in to the network</title>']],
    ['a list', 'malformed', ['[]']],
    ['null', 'malformed', ['null']],
    ['another version', 'version', ['{"v":2,"anything":[]}']],
    ['no version', 'version', ['{"error":"x"}']],
    ['a segment before the head', 'version', ['{"segment":"/#page"}']],
    ['a head without a build', 'malformed', ['{"v":1,"route":"/"}', DONE]],
    ['a head that says nothing', 'malformed', ['{"v":1,"build":"b"}', DONE]],
    ['a head that says two things', 'malformed', ['{"v":1,"build":"b","route":"/","document":true}', DONE]],
    ['a redirect and a document', 'malformed', ['{"v":1,"build":"b","redirect":{"to":"/"},"document":true}', DONE]],
    ['a redirect to nowhere', 'malformed', ['{"v":1,"build":"b","redirect":{}}', DONE]],
    ['a document that is none', 'malformed', ['{"v":1,"build":"b","document":1}', DONE]],
    ['a route that is a number', 'malformed', ['{"v":1,"build":"b","route":1}', DONE]],
    ['params that are a list', 'malformed', ['{"v":1,"build":"b","route":"/","params":["a"]}', DONE]],
    ['a param that is a number', 'malformed', ['{"v":1,"build":"b","route":"/","params":{"id":1}}', DONE]],
    ['an unknown scope', 'malformed', ['{"v":1,"build":"b","route":"/","scope":"site"}', DONE]],
    ['a segment after a redirect', 'malformed', ['{"v":1,"build":"b","redirect":{"to":"/"}}', '{"segment":"x"}', DONE]],
    [
      'an outcome after a redirect',
      'malformed',
      ['{"v":1,"build":"b","redirect":{"to":"/"}}', '{"outcome":{"kind":"error","at":0}}', DONE],
    ],
    [
      'a stream after a redirect',
      'malformed',
      ['{"v":1,"build":"b","redirect":{"to":"/"}}', '{"segment":"#action","stream":0}', DONE],
    ],
    ['two heads', 'malformed', [HEAD, HEAD, DONE]],
    ['a record of no kind', 'malformed', [HEAD, '{"x":1}', DONE]],
    ['a segment twice', 'malformed', [HEAD, '{"segment":"x"}', '{"segment":"x"}', DONE]],
    ['a segment without a name', 'malformed', [HEAD, '{"segment":1}', DONE]],
    ['data here and later', 'malformed', [HEAD, '{"segment":"x","data":1,"stream":0}', DONE]],
    ['a lifetime of text', 'malformed', [HEAD, '{"segment":"x","lifetime":"5"}', DONE]],
    ['a lifetime below zero', 'malformed', [HEAD, '{"segment":"x","lifetime":-1}', DONE]],
    ['tags that are text', 'malformed', [HEAD, '{"segment":"x","tags":"abc"}', DONE]],
    ['uses that are numbers', 'malformed', [HEAD, '{"segment":"x","uses":[1]}', DONE]],
    [
      'a stream that is not the next',
      'malformed',
      [HEAD, ...[STREAM, ROOT, LATE, END].map((line) => line.replace(':0', ':1')), DONE],
    ],
    ['a stream twice', 'malformed', [HEAD, STREAM, '{"segment":"x","stream":0}', ROOT, LATE, END, DONE]],
    [
      'a stream again',
      'malformed',
      [HEAD, STREAM, ROOT, LATE, END, '{"segment":"x","stream":0}', ROOT, LATE, END, DONE],
    ],
    ['a chunk of no stream', 'malformed', [HEAD, ROOT, DONE]],
    ['a chunk that is no text', 'malformed', [HEAD, STREAM, '{"chunk":0,"text":[1]}', DONE]],
    ['an end of no stream', 'malformed', [HEAD, END, DONE]],
    ['an end twice', 'malformed', [HEAD, STREAM, ROOT, LATE, END, END, DONE]],
    ['a chunk after the end', 'malformed', [HEAD, STREAM, ROOT, LATE, END, LATE, DONE]],
    ['an end before the values', 'malformed', [HEAD, STREAM, END, DONE]],
    ['an end before a deferred value', 'malformed', [HEAD, STREAM, ROOT, END, DONE]],
    ['done before an end', 'malformed', [HEAD, STREAM, ROOT, LATE, DONE]],
    ['done that is not true', 'malformed', [HEAD, '{"done":false}']],
    ['something after done', 'malformed', [HEAD, DONE, DONE]],
    ['an empty line after done', 'malformed', [HEAD, DONE, '']],
    ['an outcome of no kind', 'malformed', [HEAD, '{"outcome":{"kind":"toString","at":0}}', DONE]],
    ['an outcome nowhere', 'malformed', [HEAD, '{"outcome":{"kind":"error","at":-1}}', DONE]],
    ['half an outcome', 'malformed', [HEAD, '{"outcome":{"kind":"error","at":0.5}}', DONE]],
    ['values that are no object', 'malformed', [HEAD, STREAM, '{"chunk":0,"text":"[1]\\n"}', END, DONE]],
    ['a chunk of garbage', 'malformed', [HEAD, STREAM, '{"chunk":0,"text":"@@\\n"}', END, DONE]],
    ['a line of open brackets', 'malformed', [HEAD, '['.repeat(200_000)]],
  ])('%s is %s', async ([, kind, lines]) => {
    expect(await kindOfLines(...lines)).toBe(kind)
  })

  test('a rest without an end of its line after done is malformed', async () => {
    expect(kindOf(await expectTyped([`${HEAD}\n${DONE}\nx`]))).toBe('malformed')
  })

  test('a line without an end is given up at 32 Mi characters, wherever it is cut', async () => {
    const piece = 'x'.repeat(2 ** 20)
    const pieces = [`${HEAD}\n"`, ...Array.from({ length: 40 }, () => piece)]
    expect(kindOf(await expectTyped(pieces))).toBe('oversize')
    expect(kindOf(await expectTyped([`${HEAD}\n`, `${piece.repeat(32)}x\n`]))).toBe('oversize')
  })

  test('keys that mean a prototype are ordinary data', async () => {
    const { segments, failed } = await expectTyped(
      [
        HEAD,
        '{"segment":"x","data":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
        DONE,
      ].map((line) => `${line}\n`),
    )
    expect(failed).toBeUndefined()
    expect(Object.keys(segments.get('x')?.values.data as object)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('what came before the fault has been delivered', async () => {
    const answer = await expectTyped([`${HEAD}\n{"segment":"x","data":1}\n^\n{"segment":"y"}\n`])
    expect(answer.calls).toEqual(['head', 'segment x', 'settled x'])
  })
})
