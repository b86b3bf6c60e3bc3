import { expect, test } from 'vitest'
import { RedirectSignal, RefusalSignal } from '../../../src/shared/control-flow.ts'
import { isServerFailure } from '../../../src/server/reports/sdk/is-server-failure.ts'
import { RequestAborted } from '../../../src/server/request/request-aborted.ts'

/** Whether it is a failure while the client is there, and once it has gone. */
const CASES: readonly (readonly [string, unknown, boolean, boolean])[] = [
  ['a redirect', new RedirectSignal('/x', 307), false, false],
  ['a refusal', new RefusalSignal('notFound'), false, false],
  ['the end of a request whose client has gone', new RequestAborted('gone'), false, false],
  ['the end of a request that took too long', new RequestAborted('timeout'), true, true],
  ['an abort', new DOMException('The operation was aborted', 'AbortError'), true, false],
  ['a request that has broken off', new Error('aborted'), true, false],
  ['an error', new Error('broken'), true, true],
  ['an error that is named as a redirect', Object.assign(new Error('x'), { name: 'RedirectSignal' }), true, true],
  ['an error with a digest', Object.assign(new Error('x'), { digest: 'millrace:notFound' }), true, true],
  ['a text', 'aborted', true, true],
  ['nothing', undefined, true, true],
]

test.for(CASES)('%s', ([, thrown, here, gone]) => {
  expect([isServerFailure(thrown, false), isServerFailure(thrown, true)]).toEqual([here, gone])
})
