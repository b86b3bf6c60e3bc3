import { expect, test } from 'vitest'
import { describeErrors } from '../../../src/server/request/answer/logged-errors.ts'

test('errors in the fields of a line are described, without members that may be secret', () => {
  const error = Object.assign(new TypeError('no mail', { cause: new Error('no socket') }), { password: 'secret' })
  const { jobs, error: own } = JSON.parse(JSON.stringify(describeErrors({ error, jobs: [{ id: 1, error }] })))
  expect(own).toMatchObject({ type: 'TypeError', message: 'no mail', cause: { message: 'no socket' } })
  expect(own.stack).toContain('logged-errors.test.ts')
  expect(jobs).toEqual([{ id: 1, error: own }])
  expect(JSON.stringify(own)).not.toContain('secret')
})

test('fields without errors, and what cannot be read, stay the same objects', () => {
  const fields = { at: new Date(0), list: [1, { two: NaN }], none: null }
  expect(describeErrors(fields)).toBe(fields)
  const broken = {
    get value(): never {
      throw new Error('not today')
    },
  }
  expect(describeErrors(broken)).toBe(broken)
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  expect(describeErrors(circle)).toBe(circle)
})
