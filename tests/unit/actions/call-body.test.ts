import { describe, expect, test } from 'vitest'
import { callBody, invalidInput } from '../../../src/client/actions/call-body.ts'

const form = (...fields: readonly (readonly [string, string | File])[]): FormData => {
  const data = new FormData()
  for (const [name, value] of fields) data.append(name, value as string)
  return data
}

describe('a call travels', () => {
  test('as JSON without a form', () => {
    expect(callBody([1, { a: 2 }])).toEqual({ body: '{"args":[1],"input":{"a":2}}', type: 'application/json' })
    expect(callBody([])).toEqual({ body: '{"args":[]}', type: 'application/json' })
  })

  test('as a form, without what the document had for the way without script', () => {
    const { body, type } = callBody([
      7,
      { former: 1 },
      form(['$ACTION_ID', 'x'], ['$ACTION_KEY', 'k'], ['name', 'ann']),
    ])
    expect(type).toBeUndefined()
    expect([...(body as FormData)]).toEqual([
      ['$ACTION_ARGS', '[7,{"former":1}]'],
      ['name', 'ann'],
    ])
  })
})

test('what was typed comes back by name, and files have to be chosen again', () => {
  const input = form(['name', 'ann'], ['tags', 'a'], ['tags', 'b'], ['photo', new File([], '')], ['__proto__', 'x'])
  const { values, omitted } = invalidInput(input, {})
  expect(Object.entries(values)).toEqual([
    ['name', 'ann'],
    ['tags', ['a', 'b']],
    ['__proto__', 'x'],
  ])
  expect(omitted).toEqual([])
  expect(invalidInput(form(['photo', new File(['x'], 'a.png')]), {}).omitted).toEqual(['photo'])
  expect(invalidInput({ name: 'ann' }, {})).toEqual({ kind: 'invalid', errors: {}, values: {}, omitted: [] })
})
