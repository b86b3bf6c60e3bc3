import { expect, test } from 'vitest'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'

test.for([
  ['lab/guestbook/actions.server.ts', 'sign', 'JktxEoscSARWTJGw'],
  ['lab/guestbook/actions.server.ts', 'remove', 'cj0djgwavS2dE3ZA'],
  ['actions.server.ts', 'sign', 'awT5FdKkba_kMAO4'],
] as const)('%s and %s have this id in every build: open pages of a former one call it', ([module, name, id]) => {
  expect(actionId(module, name)).toBe(id)
})

test('an id needs no escape in a URL, whatever the action is called', () => {
  const ids = Array.from({ length: 200 }, (_, index) =>
    actionId(`größe ${index}/actions.server.ts`, `#&=\u{1F41F}${index}`),
  )
  expect(ids.filter((id) => !/^[\w-]{16}$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})
