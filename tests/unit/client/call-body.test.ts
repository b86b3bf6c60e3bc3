import { describe, expect, test } from 'vitest'
import { isPasswordName } from '../../../src/shared/password-name.ts'
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

test('a state that says why the input was refused does not travel beside the form that holds the same', () => {
  const text = 'x'.repeat(1000)
  const { body } = callBody([7, invalidInput(form(['text', text]), {}), form(['text', text])])
  expect([...(body as FormData)]).toEqual([
    ['$ACTION_ARGS', '[7,null]'],
    ['text', text],
  ])
})

test('what was typed never has passwords, what the action calls secret, or fields of the runtime in it', () => {
  const input = form(
    ['$ACTION_REF_1', ''],
    ['$ACTION_KEY', 'k'],
    ['name', 'ann'],
    ['password', 'hunter2'],
    ['pin', '1234'],
    ['phrase', 'open sesame'],
  )
  const document = { querySelectorAll: () => [{ name: 'phrase' }] } as unknown as Document
  const state = invalidInput(input, { errors: { name: ['no'] }, secret: ['pin'] }, document)
  expect(state).toEqual({ kind: 'invalid', errors: { name: ['no'] }, values: { name: 'ann' }, omitted: [] })
})

test('fields are passwords by their names', () => {
  const passwords = ['password', 'newPassword', 'account.password_2', 'user[pwd]', 'login[pass]', 'Passwd']
  expect(passwords.filter((name) => !isPasswordName(name))).toEqual([])
  expect(['compass', 'passport', 'passenger', 'bypass', 'upwd', 'name'].filter(isPasswordName)).toEqual([])
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
