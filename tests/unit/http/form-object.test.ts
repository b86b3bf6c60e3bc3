import { array, assert, constantFrom, oneof, property, string, tuple } from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import { formObject } from '../../../src/server/http/body/form-object.ts'

type Fields = readonly (readonly [string, string])[]

/** As plain objects, to be compared with literals. */
function valueOf(fields: Fields): unknown {
  return JSON.parse(JSON.stringify(formObject(fields).value))
}

function statusOf(fields: Fields): number | 'taken' {
  try {
    formObject(fields)
    return 'taken'
  } catch (error) {
    if (error instanceof BodyError) return error.status
    throw error
  }
}

describe('names say how fields are nested', () => {
  test.for<[string, Fields, unknown]>([
    ['one', [['a', '1']], { a: '1' }],
    ['empty texts stay', [['a', '']], { a: '' }],
    ['a repeated name is a list', [['a', '1'], ['a', '2']], { a: ['1', '2'] }], // prettier-ignore
    ['brackets make a list of one', [['a[]', '1']], { a: ['1'] }],
    ['brackets or not, one list', [['a', '1'], ['a[]', '2']], { a: ['1', '2'] }], // prettier-ignore
    ['members', [['a.b', '1'], ['a.c', '2']], { a: { b: '1', c: '2' } }], // prettier-ignore
    ['items', [['a[1].b', '2'], ['a[0].b', '1']], { a: [{ b: '1' }, { b: '2' }] }], // prettier-ignore
    ['gaps close', [['a[7]', '2'], ['a[999999999]', '3'], ['a[3]', '1']], { a: ['1', '2', '3'] }], // prettier-ignore
    ['lists in lists', [['a[0][1]', '1'], ['a[1][0]', '2']], { a: [['1'], ['2']] }], // prettier-ignore
    ['lists of lists', [['a[0][]', '1'], ['a[0][]', '2']], { a: [['1', '2']] }], // prettier-ignore
    ['digits may name a member', [['a.0', '1']], { a: { 0: '1' } }],
    ['other signs are part of a name', [['first name', '1'], ['a[b]', '2'], ['.a', '3'], ['a..b', '4'], ['[0]', '5'], ['a[', '6']], { 'first name': '1', 'a[b]': '2', '.a': '3', 'a..b': '4', '[0]': '5', 'a[': '6' }], // prettier-ignore
    ['names of Object are names', [['toString', '1'], ['a.hasOwnProperty', '2']], { toString: '1', a: { hasOwnProperty: '2' } }], // prettier-ignore
    ['eight levels', [['a.b.c.d.e.f.g.h', '1']], { a: { b: { c: { d: { e: { f: { g: { h: '1' } } } } } } } }],
  ])('%s', ([, fields, value]) => {
    expect(valueOf(fields)).toEqual(value)
  })

  test('nothing has a prototype', () => {
    const { value } = formObject([['a.b', '1']])
    expect(Object.getPrototypeOf(value)).toBeNull()
    expect(Object.getPrototypeOf(value['a'])).toBeNull()
  })

  test('an index costs nothing by its size', () => {
    const fields = Array.from({ length: 1_000 }, (_, index) => [`a${index}[999999999]`, ''] as const)
    expect(Object.values(formObject(fields).value).every((list) => (list as unknown[]).length === 1)).toBe(true)
  })
})

describe('names that no form has are refused', () => {
  test.for<[string, Fields, number | 'taken']>([
    ['none', [['', '1']], 400],
    ['200 bytes', [['a'.repeat(200), '1']], 'taken'],
    ['201 bytes', [['a'.repeat(201), '1']], 400],
    ['201 bytes in 67 characters', [['€'.repeat(67), '1']], 400],
    ['nine levels', [['a.b.c.d.e.f.g.h.i', '1']], 400],
    ['nine levels by indexes', [['a[0][0][0][0][0][0][0][0]', '1']], 400],
    ['nine levels by brackets', [['a[0][0][0][0][0][0][0][]', '1']], 400],
    ['__proto__', [['__proto__', '1']], 400],
    ['a.__proto__', [['a.__proto__', '1']], 400],
    ['__proto__.a', [['__proto__.a', '1']], 400],
    ['__proto__[0]', [['__proto__[0]', '1']], 400],
    ['constructor.prototype.a', [['constructor.prototype.a', '1']], 400],
    ['a[0].constructor', [['a[0].constructor', '1']], 400],
    ['prototype', [['prototype', '1']], 400],
    ['text and object', [['a', '1'], ['a.b', '2']], 400], // prettier-ignore
    ['object and text', [['a.b', '1'], ['a', '2']], 400], // prettier-ignore
    ['list and object', [['a[0]', '1'], ['a.b', '2']], 400], // prettier-ignore
    ['indexes and brackets', [['a[0][1]', '1'], ['a[0][]', '2']], 400], // prettier-ignore
    ['list and text', [['a[0]', '1'], ['a', '2']], 400], // prettier-ignore
    ['a thousand fields', Array.from({ length: 1_000 }, () => ['a', ''] as const), 'taken'],
    ['a thousand and one', Array.from({ length: 1_001 }, () => ['a', ''] as const), 413],
  ])('%s: %s', ([, fields, status]) => {
    expect(statusOf(fields)).toBe(status)
  })

  test('whatever comes, it is an object or a refusal', () => {
    const piece = oneof(
      constantFrom('a', 'b', '.', '[', ']', '[]', '[0]', '[1]', '__proto__', 'constructor', ''),
      string(),
    )
    const name = array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''))
    assert(
      property(array(tuple(name, string()), { maxLength: 8 }), (fields) => {
        const status = statusOf(fields)
        expect(['taken', 400]).toContain(status)
        if (status !== 'taken') return
        const { value, nameOf } = formObject(fields)
        // Each field is found by a path, and its path gives its name back.
        const names = new Set(pathsIn(value).map(nameOf))
        expect(fields.filter(([name]) => !names.has(name) && !names.has(`${name}[]`))).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })
})

/** The paths of all texts. */
function pathsIn(value: unknown, path: readonly PropertyKey[] = []): (readonly PropertyKey[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Array.isArray(value)
    ? value.flatMap((item, index) => pathsIn(item, [...path, index]))
    : Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...path, key]))
}

describe('an error finds the field that it is about', () => {
  const { nameOf, value } = formObject([
    ['name', ''],
    ['tags[]', 'x'],
    ['tags[]', ''],
    ['colours', 'a'],
    ['colours', 'b'],
    ['rows[2].qty', '1'],
    ['rows[5].qty', 'x'],
    ['go.x', '1'],
  ])

  test.for<[readonly PropertyKey[], string]>([
    [[], ''],
    [['name'], 'name'],
    [['name', 0], 'name'],
    [['tags'], 'tags[]'],
    [['tags', 1], 'tags[]'],
    [['colours', 1], 'colours'],
    [['rows', 1, 'qty'], 'rows[5].qty'],
    [['rows', 1], 'rows[5]'],
    [['rows', 1, 'note'], 'rows[5].note'],
    [['rows', 4, 'qty'], 'rows[4].qty'],
    [['rows'], 'rows'],
    [['missing'], 'missing'],
    [['address', 'street'], 'address.street'],
    [['list', 0, 'a'], 'list[0].a'],
    [['go', 'y'], 'go.y'],
  ])('%j is %s', ([path, name]) => {
    expect(nameOf(path)).toBe(name)
  })

  test('in a list that is put in order once, however many errors it has', () => {
    const COUNT = 1_000
    const sorted = vi.spyOn(Array.prototype, 'toSorted')
    const rows = formObject(Array.from({ length: COUNT }, (_, at) => [`rows[${2 * (COUNT - at)}].qty`, ''] as const))
    const names = Array.from({ length: COUNT }, (_, at) => rows.nameOf(['rows', at, 'qty']))
    expect(sorted).toHaveBeenCalledTimes(1)
    expect([names[0], names.at(-1)]).toEqual(['rows[2].qty', `rows[${2 * COUNT}].qty`])
  })

  test('as zod tells it', () => {
    const schema = z.object({ name: z.string().min(1), rows: z.array(z.object({ qty: z.coerce.number() })) })
    const issues = schema.safeParse(value).error?.issues ?? []
    expect(issues.map((issue) => nameOf(issue.path))).toEqual(['name', 'rows[5].qty'])
  })
})
