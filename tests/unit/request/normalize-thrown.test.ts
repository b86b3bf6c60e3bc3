import { expect, test } from 'vitest'
import { normalizeThrown } from '../../../src/server/request/answer/normalize-thrown.ts'
import { RedirectSignal, RefusalSignal } from '../../../src/shared/control-flow.ts'

test.for([new RedirectSignal('/a', 307), new RefusalSignal('notFound')])(
  '%s is taken as it is, without the stack that nobody reads',
  (signal) => {
    let asked = 0
    Object.defineProperty(signal, 'stack', {
      get() {
        asked += 1
        return ''
      },
    })
    expect(normalizeThrown(signal)).toBe(signal)
    expect(asked).toBe(0)
  },
)

test('a failure is asked for its stack here, where it may throw', () => {
  const failure = Object.defineProperty(new Error('x'), 'stack', {
    get() {
      throw new Error('y')
    },
  })
  expect(normalizeThrown(failure)).toEqual(new Error('something was thrown that cannot be described'))
})
