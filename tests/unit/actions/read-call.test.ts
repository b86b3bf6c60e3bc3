import { describe, expect, test } from 'vitest'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import { argumentsPurpose } from '../../../src/server/routes/render/bound-arguments.ts'
import { readCall } from '../../../src/server/routes/actions/read-call.ts'
import type { FormBody } from '../../../src/server/http/body/read-body.ts'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'

const ID = 'abcdefghijklmnop'
const secrets = createSecrets(['a key of more than sixteen characters'])

function form(...fields: FormBody['fields']): FormBody {
  return {
    kind: 'form',
    fields,
    files: {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true as const, value: undefined }) }),
    },
    discard: () => undefined,
  }
}

const json = (value: unknown) => ({ kind: 'json', value }) as const
const byScript = (body: Parameters<typeof readCall>[0], sentKey?: string) =>
  readCall(body, { id: ID, form: undefined, sentKey }, secrets)
const byForm = (fields: FormBody['fields'], number = '3') =>
  readCall(form(...fields), { id: ID, form: number, sentKey: undefined }, secrets)
const signed = (args: unknown, id = ID) => secrets.sign(argumentsPurpose(id), JSON.stringify(args))

describe('a form without script', () => {
  test("brings what was typed, without what is the runtime's", () => {
    const call = byForm([
      ['$ACTION_REF', ''],
      ['$ACTION_ID', ID],
      ['$ACTION_KEY', 'k1'],
      ['$ACTION_ONCE', '0d6a7c0e-8f0f-4b5e'],
      ['$ACTION_ARGS3', signed([7, null])],
      ['name', 'ann'],
    ])
    expect({ ...(call.input as object) }).toEqual({ name: 'ann' })
    expect(call).toMatchObject({ leading: [7, null], hasState: true, key: 'k1', sentKey: '0d6a7c0e-8f0f-4b5e' })
    expect(call.form?.fields).toEqual([['name', 'ann']])
  })

  test('brings the arguments of its own number, or the only ones', () => {
    const fields = [
      ['$ACTION_ARGS1', signed([1])],
      ['$ACTION_ARGS3', signed([3])],
    ] as const
    expect(byForm(fields).leading).toEqual([3])
    expect(byForm(fields, '2').leading).toEqual([])
    expect(byForm(fields.slice(1), '').leading).toEqual([3])
  })

  test.for([
    ['altered', signed([7]).replace('v1.', 'v1.A')],
    ['unsigned', '[7]'],
    ['signed for another action', signed([7], 'another')],
    ['empty', ''],
  ])('with %s arguments is refused', ([, text = '']) => {
    expect(() => byForm([['$ACTION_ARGS3', text]])).toThrow(BodyError)
  })

  test('with a idempotency key that is no key has none', () => {
    for (const once of ['', 'short', 'x'.repeat(65), 'with a space in it']) {
      expect(byForm([['$ACTION_ONCE', once]]).sentKey).toBeUndefined()
    }
  })
})

describe('a call of the client router', () => {
  test('says its arguments in JSON, with a form or alone', () => {
    expect(byScript(form(['$ACTION_ARGS', '[1,{"a":2}]'], ['name', 'ann']))).toMatchObject({
      leading: [1, { a: 2 }],
      hasState: undefined,
    })
    expect(byScript(json({ args: [1], input: { name: 'ann' } }), 'a-idempotency-key-of-its-own')).toMatchObject({
      input: { name: 'ann' },
      leading: [1],
      sentKey: 'a-idempotency-key-of-its-own',
    })
  })

  test.for([null, 5, 'text', [], {}])('of the JSON %j has neither arguments nor input', (value) => {
    expect(byScript(json(value))).toMatchObject({ leading: [], input: undefined })
  })

  test.for([
    json({ args: 'a' }),
    json({ args: { length: 2 } }),
    form(['$ACTION_ARGS', '{}']),
    form(['$ACTION_ARGS', '[1']),
    form(['$ACTION_ARGS', '[{"__proto__":{"admin":true}}]']),
  ])('with arguments that are not a list, or no good, is refused (%#)', (body) => {
    expect(() => byScript(body)).toThrow(BodyError)
  })
})
