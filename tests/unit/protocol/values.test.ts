import { array, assert, asyncProperty, nat } from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { decodeValues } from '../../../src/shared/protocol/decode-value-text.ts'
import { createValueDecoder } from '../../../src/shared/protocol/decode-values.ts'
import { createValueEncoder, encodeValues } from '../../../src/shared/protocol/encode-values.ts'
import { cut, pieceStream, stateOf } from './text-stream.ts'
import { richValues } from './rich-values.ts'

const OPEN = new AbortController().signal

async function textOf(
  values: unknown,
  ...rest: Parameters<typeof createValueEncoder> extends [unknown, ...infer R] ? R : never
) {
  const encoder = createValueEncoder(values, ...rest)
  let text = encoder.root
  await encoder.follow((frame) => (text += frame), OPEN)
  return text
}

async function roundTrip<Value>(value: Value): Promise<Value> {
  return decodeValues<Value>(pieceStream([await textOf(value)]))
}

describe('values arrive as they left', () => {
  test('whatever they are, and wherever the text is cut', async () => {
    await assert(
      asyncProperty(richValues(), array(nat(1000), { maxLength: 8 }), async (value, places) => {
        expect(await decodeValues(pieceStream(cut(await textOf(value), places)))).toStrictEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  test('a hole of billions costs nothing', async () => {
    const arrived = await roundTrip<unknown[]>(Object.assign([], { 4294967294: new Date(1) }))
    expect(arrived).toHaveLength(4_294_967_295)
    expect(Object.entries(arrived)).toEqual([['4294967294', new Date(1)]])
  })

  const shared = { x: 1 }
  test.for<[string, unknown]>([
    ['bytes', [new Uint8Array([1, 2, 255]), new Int16Array([-1]), new BigUint64Array([2n ** 63n]), new Uint8Array(0)]],
    ['a part of a buffer', { bytes: new Uint8Array([1, 2, 3, 4]).subarray(1, 3) }],
    ['a whole buffer', new Uint8Array([9, 8]).buffer],
    ['an invalid Date', new Date(Number.NaN)],
    [
      'a Map with rich keys',
      new Map<unknown, unknown>([
        [new Date(1), new Set([undefined])],
        [-0, 0],
      ]),
    ],
    // eslint-disable-next-line no-sparse-arrays
    ['holes at the start, between and at the end', [[, 1, , undefined, [,]], Object.assign([1], { length: 3 })]],
    ['an empty Map in a list', [new Map(), new Set(), []]],
    ['a list that looks like a mark', [[-1], ['Map', 1], [''], [[0]]]],
    ['what comes after an Error', [shared, new Map([[shared, shared]])]],
  ])('%s', async ([, value]) => {
    expect(await roundTrip(value)).toStrictEqual(value)
  })

  test('as the same object where they were the same, also after an Error and in a deferred value', async () => {
    const bytes = new Uint8Array([1])
    const values = {
      error: new Error('secret'),
      a: shared,
      b: shared,
      c: bytes,
      late: Promise.resolve([shared, bytes]),
    }
    const arrived = await roundTrip(values)
    expect(arrived.a).toBe(arrived.b)
    const [lateShared, lateBytes] = await arrived.late
    expect(lateShared).toBe(arrived.a)
    expect(lateBytes).toBe(arrived.c)
  })

  test('with their cycles', async () => {
    const loop: { self?: unknown; map: Map<unknown, unknown> } = { map: new Map() }
    loop.self = loop
    loop.map.set(loop, loop.map)
    const arrived = await roundTrip(loop)
    expect(arrived.self).toBe(arrived)
    expect(arrived.map.get(arrived)).toBe(arrived.map)
  })

  test('at a depth that no stack has, and in numbers that no call takes', async () => {
    let deep: unknown = new Date(0)
    for (let depth = 0; depth < 50_000; depth += 1) deep = [deep]
    let arrived = await roundTrip(deep)
    while (Array.isArray(arrived)) arrived = arrived[0] as unknown
    expect(arrived).toEqual(new Date(0))
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, index]))
    expect(Object.keys(await roundTrip(wide))).toHaveLength(200_000)
    expect(await roundTrip(Array.from({ length: 200_000 }))).toHaveLength(200_000)
    expect(await roundTrip(new Uint8Array(100_000).fill(7))).toEqual(new Uint8Array(100_000).fill(7))
  })

  test.for<[string, unknown]>([
    ['an empty list', []],
    ['an empty Set', new Set()],
    ['an empty Map', new Map()],
    ['a list of an empty list', [[]]],
    ['nothing', undefined],
    ['a Date', new Date(3)],
  ])('a promise of %s is kept, and so is the next one', async ([, value]) => {
    const arrived = await roundTrip({ first: Promise.resolve(value), second: Promise.resolve('second') })
    expect(await arrived.first).toStrictEqual(value)
    expect(await arrived.second).toBe('second')
  })

  test('promises inside of promises, Maps and lists', async () => {
    const arrived = await roundTrip({
      outer: Promise.resolve({ inner: Promise.resolve(new Map([[1, Promise.resolve(2)]])) }),
    })
    const { inner } = await arrived.outer
    expect(await (await inner).get(1)).toBe(2)
  })
})

describe('what cannot travel', () => {
  test('functions and private symbols are undefined, instances are their properties or their toJSON', async () => {
    class Point {
      readonly x = 1
    }
    class Price {
      toJSON() {
        return { cents: 5n }
      }
    }
    const shown = await roundTrip<unknown>({
      f: () => 1,
      s: Symbol('mine'),
      p: new Point(),
      q: new Price(),
      n: { toJSON: () => -0 },
    })
    expect(shown).toStrictEqual({ f: undefined, s: undefined, p: { x: 1 }, q: { cents: 5n }, n: -0 })
  })

  test('an Error keeps nothing that the server knows', async () => {
    const text = await textOf({
      error: new TypeError('canary', { cause: 'canary' }),
      late: Promise.reject(new Error('canary')),
    })
    expect(text).not.toContain('canary')
    const arrived = await decodeValues<{ error: Error; late: Promise<never> }>(pieceStream([text]))
    expect(arrived.error).toBeInstanceOf(Error)
    await expect(arrived.late).rejects.toBeInstanceOf(Error)
  })

  const throwing = {
    get price() {
      throw new Error('canary')
    },
  }

  test('a getter that throws is thrown to whoever encodes', () => {
    expect(() => createValueEncoder({ rows: [throwing] })).toThrow('canary')
  })

  test('a getter that throws in a deferred value breaks that value only, under the name that the server gives', async () => {
    const shared = { x: 1 }
    const values = { bad: Promise.resolve([shared, throwing]), good: Promise.resolve([shared]) }
    const publicReason = vi.fn<(reason: unknown) => unknown>(() => ({ digest: 'd1' }))
    const text = await textOf(values, publicReason)
    expect(publicReason.mock.calls).toEqual([[new Error('canary')]])
    const arrived = await decodeValues<typeof values>(pieceStream([text]))
    await expect(arrived.bad).rejects.toEqual({ digest: 'd1' })
    expect(await arrived.good).toEqual([shared])
    const unnamed = await decodeValues<typeof values>(pieceStream([await textOf(values)]))
    await expect(unnamed.bad).rejects.toBeInstanceOf(Error)
  })

  test('a rejection that throws itself is an Error', async () => {
    const text = await textOf({ bad: Promise.reject(throwing) })
    const arrived = await decodeValues<{ bad: Promise<never> }>(pieceStream([text]))
    await expect(arrived.bad).rejects.toBeInstanceOf(Error)
  })
})

describe('a stream of values', () => {
  test('gives what is known at once, and the rest as it comes', async () => {
    const late = Promise.withResolvers<string>()
    const stream = encodeValues({ now: 1n, late: late.promise }, OPEN)
    const arrived = await decodeValues<{ now: bigint; late: Promise<string> }>(stream)
    expect(arrived.now).toBe(1n)
    expect(await stateOf(arrived.late)).toBe('open')
    late.resolve('late')
    expect(await arrived.late).toBe('late')
  })

  test('ends with the reason of the signal, and so do the promises in it', async () => {
    const gone = new AbortController()
    const arrived = await decodeValues<{ late: Promise<never> }>(
      encodeValues({ late: new Promise(() => undefined) }, gone.signal),
    )
    gone.abort(new Error('gone'))
    await expect(arrived.late).rejects.toThrow('gone')
  })

  test('of a signal that has already fired is no hang', async () => {
    const gone = AbortSignal.abort(new Error('gone'))
    const arrived = await decodeValues<{ late: Promise<never> }>(
      encodeValues({ late: new Promise(() => undefined) }, gone),
    )
    await expect(arrived.late).rejects.toThrow('gone')
  })

  test('tells whoever emits of their own exception, once', async () => {
    const { follow } = createValueEncoder({ a: Promise.resolve(1), b: Promise.resolve(2) })
    const emit = vi.fn<(frame: string) => void>(() => {
      throw new Error('broken pipe')
    })
    await expect(follow(emit, OPEN)).rejects.toThrow('broken pipe')
    expect(emit).toHaveBeenCalledTimes(1)
  })

  test('is silent after the signal', async () => {
    const gone = new AbortController()
    const late = Promise.withResolvers<string>()
    const emit = vi.fn<(frame: string) => void>()
    const over = createValueEncoder({ late: late.promise }).follow(emit, gone.signal)
    gone.abort()
    await over
    late.reject(new Error('nobody listens'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(emit).not.toHaveBeenCalled()
  })
})

describe('a text that no server of ours writes', () => {
  test.for<[string, string]>([
    ['nothing', ''],
    ['no end of a line', '[1]'],
    ['no JSON', 'x\n'],
    ['no frame', '{}\n'],
    ['an empty frame', '[]\n'],
    ['a node that is missing', '[[0]]\n'],
    ['a node that comes later', '[[0],[[1]]]\n'],
    ['a number that is none', '[["x"]]\n'],
    ['a name of the list itself', '[["length"]]\n'],
    ['half a number', '[[0.5],{}]\n'],
    ['an array with holes and no length', '[[0],["Sparse","x"]]\n'],
    ['an array with holes of half a length', '[[0],["Sparse",1.5]]\n'],
    ['a member at an object', '[[0],["Sparse",1,{"toString":1,"valueOf":1},1]]\n'],
    ['a constant that is none', '[[-9]]\n'],
    ['half a constant', '[[-1.5]]\n'],
    ['a member that is an object', '[{}]\n'],
    ['a node that is a primitive', '[1,2]\n'],
    ['a node of no kind', '[1,["Function","alert(1)"]]\n'],
    ['a node named by a member of all objects', '[1,["constructor","x"]]\n'],
    ['a bad URL', '[1,["URL","no"]]\n'],
    ['a bad expression', '[1,["RegExp","(","g"]]\n'],
    ['a bad bigint', '[1,["BigInt","1e9"]]\n'],
    ['half a word of bytes', '[1,["Int32Array","AA=="]]\n'],
    ['bytes that are none', '[1,["Uint8Array","*"]]\n'],
    ['a Date of an object', '[1,["Date",{"toString":1,"valueOf":1}]]\n'],
    ['a promise in the place of the values', '[[0],["Promise"]]\n[0,1,1]\n'],
    ['a promise that is never settled', '[1,["Promise"]]\n'],
    ['a promise that is no one', '[1]\n[0,1,1]\n'],
    ['a promise that is a date', '[1,["Date",0]]\n[0,1,1]\n'],
    ['a promise that is settled twice', '[1,["Promise"]]\n[0,1,1]\n[0,1,1]\n'],
    ['a promise that is neither kept nor broken', '[1,["Promise"]]\n[0,2,1]\n'],
    ['a promise that stands for itself', '[1,["Promise"]]\n[0,1,[0]]\n'],
    ['promises that wait for each other', '[1,["Promise"],["Promise"]]\n[0,1,[1]]\n[1,1,[0]]\n'],
    ['a settlement without a value', '[1,["Promise"]]\n[0,1]\n'],
    ['JSON without an end', '['.repeat(100_000) + '\n'],
  ])('%s is refused', async ([, text]) => {
    const decode = async () => {
      const decoder = createValueDecoder()
      try {
        decoder.push(text)
        decoder.end()
      } catch (thrown) {
        decoder.fail(thrown)
        throw thrown
      }
    }
    await expect(decode()).rejects.toBeInstanceOf(Error)
  })

  test('reaches no prototype', async () => {
    const hostile = [
      '[[0],{"__proto__":[1],"constructor":[1]},{"polluted":true}]\n',
      '[[0],["",[1]],{"__proto__":[0],"length":5}]\n',
      '[[0],["Map","__proto__",[1]],{"polluted":true}]\n',
      '[[0],["Sparse",1,"__proto__",[1]],{"polluted":true}]\n',
    ]
    for (const text of hostile) await decodeValues(pieceStream([text]))
    const value = await decodeValues<object>(pieceStream(hostile.slice(0, 1)))
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.hasOwn(value, '__proto__')).toBe(true)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    const sparse = await decodeValues<object>(pieceStream(hostile.slice(3)))
    expect(Object.getPrototypeOf(sparse)).toBe(Array.prototype)
    expect(await roundTrip(JSON.parse('{"__proto__":{"x":1},"at":1}'))).toEqual(
      JSON.parse('{"__proto__":{"x":1},"at":1}'),
    )
  })

  test('rejects the promises that are open, and cancels the stream', async () => {
    const stream = pieceStream(['[[0],{"a":[1],"b":[2]},["Promise"],["Promise"]]\n[1,1,5]\n', '^\n'])
    const arrived = await decodeValues<{ a: Promise<number>; b: Promise<never> }>(stream)
    expect(await arrived.a).toBe(5)
    await expect(arrived.b).rejects.toBeInstanceOf(SyntaxError)
    expect(stream.cancelled.with).toBeInstanceOf(SyntaxError)
  })

  test('rejects them too when it simply ends', async () => {
    const arrived = await decodeValues<{ a: Promise<never> }>(pieceStream(['[[0],{"a":[1]},["Promise"]]\n']))
    await expect(arrived.a).rejects.toThrow('not complete')
  })
})
