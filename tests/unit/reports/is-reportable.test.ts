import { describe, expect, test } from 'vitest'
import { controlFlowDigest, RedirectSignal, RefusalSignal } from '../../../src/shared/control-flow.ts'
import { isReportable, isReportableError } from '../../../src/shared/reports/is-reportable.ts'
import { RouteCancelled, RouteLoadError } from '../../../src/client/react/router-errors.ts'
import { RequestAborted } from '../../../src/server/request/request-aborted.ts'

const withDigest = (digest: string | undefined): Error => Object.assign(new Error('hidden by React'), { digest })
const other = (): unknown => 'a text'

/** An event as SDKs make it of an error; causes go first. */
function eventOf(thrown: Error): object {
  const causes = thrown.cause instanceof Error ? [{ type: thrown.cause.name, value: thrown.cause.message }] : []
  return { exception: { values: [...causes, { type: thrown.name, value: thrown.message }] } }
}

const never = [
  ['a redirect', new RedirectSignal('/x', 307)],
  ['a redirect that leaves the site', new RedirectSignal('https://else.test', 303, true)],
  ['not found', new RefusalSignal('notFound')],
  ['forbidden', new RefusalSignal('forbidden')],
  ['unauthorized', new RefusalSignal('unauthorized')],
  ['a navigation that was overtaken', new RouteCancelled()],
  ['a request whose client has gone', new RequestAborted('gone')],
  ['a fetch that was given up', new DOMException('The user aborted a request.', 'AbortError')],
  ["Node's word for a client that has gone", new Error('aborted')],
  ['control flow of a page brought over', new Error('NEXT_REDIRECT')],
  ['a refusal of a page brought over', new Error('NEXT_HTTP_ERROR_FALLBACK;404')],
  ['control flow as Chromium tells of an error that it keeps', new Error('Uncaught Error: NEXT_REDIRECT')],
  ['the same, as Firefox does', new Error('Error: NEXT_NOT_FOUND')],
  ['a redirect as Chromium tells of it', new Error('Uncaught RedirectSignal: Redirect to /x')],
] as const

const always = [
  ['an error', new Error('broken')],
  ['an error that speaks of a redirect', new Error('Redirect to /x')],
  ['an error whose cause is a redirect', new Error('broken', { cause: new RedirectSignal('/x', 307) })],
  ['an error whose cause was given up', new Error('broken', { cause: new DOMException('', 'AbortError') })],
  ['a render that took too long', new RequestAborted('timeout')],
  ['a route that did not load', new RouteLoadError('script', '/x.js')],
  ['an error that begins like one', new Error('NEXT_REDIRECTED too often')],
  ['an error that browsers tell of', new Error('Uncaught TypeError: x is no function')],
  ['a text that ends like one', new Error('Payment: aborted')],
] as const

describe('what is thrown and never reported', () => {
  test.for([
    ...never,
    ['a redirect that React has hidden', withDigest(controlFlowDigest(new RedirectSignal('/x', 308)))],
    ['a refusal that React has hidden', withDigest(controlFlowDigest(new RefusalSignal('notFound')))],
    ['control flow of another version', withDigest('millrace:tomorrow')],
  ] as const)('%s', ([, thrown]) => {
    expect(isReportable(thrown)).toBe(false)
  })
})

describe('what is thrown and reported', () => {
  test.for([
    ...always,
    ['an error with a digest', withDigest('0123456789ab')],
    ['a text', other()],
    ['nothing', undefined],
    ['null', null],
  ] as const)('%s', ([, thrown]) => {
    expect(isReportable(thrown)).toBe(true)
  })
})

describe('events that are never reported', () => {
  const error = { exception: { values: [{ type: 'Error', value: 'x' }] } }
  test.for([
    ...never.map(([title, thrown]) => [title, eventOf(thrown)] as const),
    ['a digest among the tags', { ...error, tags: { digest: 'millrace:notFound' } }],
    [
      'a digest among tags as pairs',
      {
        ...error,
        tags: [
          ['a', 'b'],
          ['digest', 'millrace:redirect:307::/x'],
        ],
      },
    ],
    ['a digest among the extras', { ...error, extra: { digest: 'NEXT_NOT_FOUND' } }],
    [
      'a digest of the mechanism',
      { exception: { values: [{ type: 'Error', mechanism: { data: { digest: 'millrace:forbidden' } } }] } },
    ],
    ['a message', { message: 'Route cancelled' }],
    ['a message of a former SDK', { logentry: { message: 'AbortError: The operation was aborted' } }],
    ['an exception that is no list', { exception: { type: 'RefusalSignal', value: 'notFound' } }],
    [
      'an answer with 404',
      { exception: { values: [{ type: 'Error', value: 'HTTP Client Error with status code: 404' }] } },
    ],
  ] as const)('%s', ([, event]) => {
    expect(isReportableError(event)).toBe(false)
  })
})

describe('events that are reported', () => {
  test.for([
    ...always.map(([title, thrown]) => [title, eventOf(thrown)] as const),
    [
      'an answer with 500',
      { exception: { values: [{ type: 'Error', value: 'HTTP Client Error with status code: 500' }] } },
    ],
    ['a message', { message: 'broken' }],
    ['nothing', {}],
    ['no event', 'text'],
    ['members of other types', { exception: { values: [7] }, tags: 7, extra: [], message: {}, logentry: null }],
    ['an empty list of exceptions', { exception: { values: [] } }],
  ] as const)('%s', ([, event]) => {
    expect(isReportableError(event)).toBe(true)
  })
})
