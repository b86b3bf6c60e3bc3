import { runInThisContext } from 'node:vm'
import { anything, assert, asyncProperty, constantFrom, dictionary, jsonValue, letrec, string } from 'fast-check'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { endInTime } from '../../../src/client/core/data/end-in-time.ts'
import { readHydrationData, type ReadHydrationData } from '../../../src/client/core/data/read-hydration-data.ts'
import { ServerFailure } from '../../../src/client/react/boundaries.tsx'
import { HYDRATION_DATA_GLOBAL, type HydrationValues } from '../../../src/shared/protocol/hydration-data.ts'
import { deferMembers } from '../../../src/server/routes/load/deferred.ts'
import { createHydrationDataWriter } from '../../../src/server/routes/render/hydration-data-writer.ts'
import { escapeJson } from '../../../src/server/request/answer/escape-json.ts'
import { escapeHtml } from '../../../src/shared/escape-html.ts'
import { detachedRequest } from '../request/request-context.ts'

const EVIL = '</script><script>alert(1)</script><!-- <SCRIPT \u2028\u2029 & " \' \\'
/** As UTF-8 has them. */
const HALVES = 'a\ud800b\udc00\ud83d \\ud800 \\\ud800 🌾'
const SHARED = { text: EVIL }
const evilText = string({ unit: 'binary' }).map((text) => text.toWellFormed() + EVIL)

afterEach(() => void Reflect.deleteProperty(globalThis, HYDRATION_DATA_GLOBAL))

/** What the server writes for a page with this data, as one piece of HTML. */
async function written(data: unknown, search: unknown = {}, params: Record<string, string> = {}): Promise<string> {
  const { context } = detachedRequest()
  const { value } = deferMembers(data, context)
  const view = { chain: [], params, search, data: { '/#page': value } }
  const { element, start } = createHydrationDataWriter('build')(view, '/', context)
  let html = element
  await start?.((script) => (html += script))
  return html
}

/** Takes the HTML as a browser does: a script ends at the first thing that looks like its end. */
function read(html: string): ReadHydrationData {
  const scripts = [...html.matchAll(/<script([^>]*)>(.*?)<\/script/gis)]
  expect(html.replaceAll(/<script[^>]*>.*?<\/script>/gis, '')).toBe('')
  Reflect.deleteProperty(globalThis, HYDRATION_DATA_GLOBAL)
  vi.stubGlobal('self', globalThis)
  for (const [, attributes = '', body = ''] of scripts) {
    expect(body).not.toMatch(/[<>&\u2028\u2029]/)
    if (!attributes.includes('application/json')) runInThisContext(body)
  }
  const json = scripts.find(([, attributes]) => attributes?.includes('id="millrace"'))?.[2]
  vi.stubGlobal('document', {
    readyState: 'loading',
    addEventListener: () => undefined,
    querySelector: () => ({ textContent: json }),
  })
  const hydrationData = readHydrationData(document)
  if (hydrationData === undefined) throw new Error('There is no hydration data')
  return hydrationData
}

async function roundTrip(data: unknown): Promise<unknown> {
  const values: HydrationValues = await read(await written(data)).values
  return values.data['/#page']
}

/** The same in a document without scripts. */
async function keptRoundTrip(data: unknown): Promise<unknown> {
  const { context } = detachedRequest()
  const { value } = deferMembers(data, context)
  const view = { chain: [], params: {}, search: {}, data: { '/#page': value } }
  const { element, complete } = createHydrationDataWriter('build')(view, '/', context)
  const html = (await complete?.()) ?? element
  expect(html.match(/<script/gi)).toHaveLength(1)
  return ((await read(html).values) as HydrationValues).data['/#page']
}

test('what a kept document holds is what the loader gave, promises too', async () => {
  const data = {
    at: new Date(5),
    text: `${EVIL}${HALVES}`,
    map: new Map([['a', new Set([1])]]),
    late: Promise.resolve(EVIL),
  }
  const got = (await keptRoundTrip(data)) as typeof data
  expect({ ...got, late: await got.late }).toEqual({
    ...data,
    text: data.text.toWellFormed(),
    late: EVIL,
  })
})

describe('loader data in the browser', () => {
  test('are what they were on the server, whatever JSON can say', async () => {
    await assert(
      asyncProperty(jsonValue(), evilText, async (value, text) => {
        expect(await roundTrip({ value, text })).toEqual({ value, text })
      }),
      { numRuns: 200 },
    )
  })

  test.for([
    ['a Date', new Date(0)],
    ['a Map', new Map<unknown, unknown>([[EVIL, new Set([1n])]])],
    ['a Set', new Set([EVIL, Number.NaN])],
    ['a bigint', 12_345_678_901_234_567_890n],
    ['undefined', { there: undefined }],
    ['NaN', Number.NaN],
    ['infinity', [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]],
    ['minus zero', -0],
    ['a URL', new URL('https://a.test/?x=%3C')],
    ['the same object twice', [SHARED, SHARED]],
  ] as const)('keep %s', async ([, value]) => {
    expect(await roundTrip({ value })).toStrictEqual({ value })
  })

  test('keep rich values at any depth', async () => {
    const rich = letrec((tie) => ({
      value: anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        maxDepth: 3,
        key: string().filter((key) => key !== '__proto__'),
        values: [tie('leaf'), constantFrom(undefined, null, Number.NaN, -0, true, 7)],
      }),
      leaf: evilText,
    })).value
    await assert(
      asyncProperty(
        dictionary(string({ minLength: 1, maxLength: 5 }), rich, { noNullPrototype: true }),
        async (values) => {
          expect(await roundTrip({ values, at: new Date(5) })).toStrictEqual({ values, at: new Date(5) })
        },
      ),
      { numRuns: 200 },
    )
  })

  test('have halves of surrogate pairs as the HTML has them, which is to be hydrated', async () => {
    const whole = Buffer.from(HALVES).toString()
    const data = { text: HALVES, [HALVES]: [HALVES] }
    expect(await roundTrip(data)).toEqual({ text: whole, [whole]: [whole] })
    const rich = { map: new Map([[HALVES, HALVES]]), late: Promise.resolve(HALVES) }
    const { map, late } = (await roundTrip(rich)) as typeof rich
    expect([map, await late]).toEqual([new Map([[whole, whole]]), whole])
  })

  test('hold promises that settle as the loader’s do', async () => {
    const soon = Promise.withResolvers<string>()
    const html = written({ soon: soon.promise, fails: Promise.reject(new Error('secret-canary')) })
    soon.resolve(EVIL)
    expect(await html).not.toContain('secret-canary')
    const { values } = read(await html)
    const page = (await values).data['/#page'] as { soon: Promise<string>; fails: Promise<never> }
    expect(await page.soon).toBe(EVIL)
    const reason: unknown = await page.fails.catch((thrown: unknown) => thrown)
    expect(reason).toBeInstanceOf(ServerFailure)
    expect((reason as ServerFailure).digest).toMatch(/^[0-9a-f]{12}$/)
  })

  test('come with the params and the search of the page, escaped alike', async () => {
    const { state, values } = read(await written(undefined, { [EVIL]: EVIL }, { id: EVIL }))
    expect(state).toMatchObject({ build: 'build', route: '/', params: { id: EVIL } })
    expect((await values).search).toEqual({ [EVIL]: EVIL })
  })
})

describe('a document that is streamed', () => {
  function streamed(readyState: string) {
    const { context } = detachedRequest()
    const view = { chain: [], params: {}, search: {}, data: {} }
    const { element } = createHydrationDataWriter('build')(view, '/', context, {
      streamed: { deadline: 3000, react: { identifierPrefix: 'abc' } },
    })
    const target = Object.assign(new EventTarget(), {
      readyState,
      querySelector: () => ({ textContent: element.replaceAll(/<[^>]*>/g, '') }),
    })
    const stop = vi.fn<() => void>()
    const ended = vi.fn<() => void>()
    target.addEventListener('DOMContentLoaded', ended)
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const deadline = readHydrationData(target as unknown as Document)?.state.deadline ?? 0
    endInTime({ document: target, stop } as unknown as Window, deadline)
    return { target, stop, ended }
  }

  test('is given up when the server has had its time and the network has, and not before', () => {
    const { stop } = streamed('loading')
    vi.advanceTimersByTime(12_999)
    expect(stop).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(stop).toHaveBeenCalledOnce()
  })

  test('is left alone once it is here', () => {
    const { target, stop, ended } = streamed('loading')
    for (const readyState of ['interactive', 'complete']) {
      target.readyState = readyState
      target.dispatchEvent(new Event('readystatechange'))
    }
    vi.advanceTimersByTime(20_000)
    expect(stop).not.toHaveBeenCalled()
    expect(ended).not.toHaveBeenCalled()
  })

  test('has ended for those who wait when it was stopped', () => {
    const { target, ended } = streamed('loading')
    target.readyState = 'complete'
    target.dispatchEvent(new Event('readystatechange'))
    expect(ended).toHaveBeenCalledOnce()
  })
})

test('a late script carries the nonce of its document', async () => {
  const scripts = [...(await written({ at: new Date(0) })).matchAll(/<script(?! type)([^>]*)>/g)]
  expect(scripts.length).toBeGreaterThan(0)
  for (const [, attributes] of scripts) expect(attributes).toBe(' nonce="test-nonce"')
})

describe('escaping', () => {
  test('for a script element leaves the same JSON, with nothing in it that ends element or string', () => {
    const escaped = escapeJson(JSON.stringify(EVIL + HALVES))
    expect(escaped).not.toMatch(/[<>&\u2028\u2029]/)
    expect(JSON.parse(escaped)).toBe(EVIL + HALVES)
  })

  test('for HTML covers content and quoted attributes', () => {
    expect(escapeHtml(`<b title="it's">&amp;`)).toBe('&lt;b title=&quot;it&#39;s&quot;&gt;&amp;amp;')
  })
})
