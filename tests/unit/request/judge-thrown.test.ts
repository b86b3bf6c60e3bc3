import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { UnavailableError } from '../../../src/server/http/unavailable-error.ts'
import { judgeFailure, judgeThrown, retryHeaders } from '../../../src/server/request/answer/judge-thrown.ts'
import { controlFlowDigest, RedirectSignal, RefusalSignal } from '../../../src/shared/control-flow.ts'

/** As an application makes one that copies a visitor's JSON onto an error. */
const named = (signal: RedirectSignal | RefusalSignal) =>
  Object.assign(new Error('x'), { digest: controlFlowDigest(signal) })

const CASES = [
  ['a redirect to a path', new RedirectSignal('/mills', 308), { kind: 'redirect', status: 308, location: '/mills' }],
  [
    'a redirect to a site that its author names',
    new RedirectSignal('https://example.org/x', 303, true),
    { kind: 'redirect', status: 303, location: 'https://example.org/x' },
  ],
  ['a redirect to another site', new RedirectSignal('//evil.example', 307), { kind: 'failure', status: 500 }],
  [
    'a redirect that runs script',
    new RedirectSignal('javascript:alert(1)', 307, true),
    { kind: 'failure', status: 500 },
  ],
  ['not found', new RefusalSignal('notFound'), { kind: 'refusal', refusal: 'notFound', status: 404 }],
  ['forbidden', new RefusalSignal('forbidden'), { kind: 'refusal', refusal: 'forbidden', status: 403 }],
  ['unauthorized', new RefusalSignal('unauthorized'), { kind: 'refusal', refusal: 'unauthorized', status: 401 }],
  ['a refusal that only a digest names', named(new RefusalSignal('notFound')), { kind: 'failure', status: 500 }],
  [
    'a redirect that only a digest names',
    named(new RedirectSignal('https://evil.example', 307, true)),
    { kind: 'failure', status: 500 },
  ],
  ['an error', new Error('broken'), { kind: 'failure', status: 500 }],
  [
    'what its author calls unavailable',
    new UnavailableError('later', { retryAfter: 7 }),
    { kind: 'failure', status: 503, retryAfter: 7 },
  ],
  ['a text', 'broken', { kind: 'failure', status: 500, thrown: 'broken' }],
  ['nothing', undefined, { kind: 'failure', status: 500, thrown: undefined }],
  ['a digest that is no way out', Object.assign(new Error('x'), { digest: 'millrace:toString' }), { kind: 'failure' }],
] as const

test.for(CASES)('%s', ([, thrown, expected]) => {
  expect(judgeThrown(thrown)).toMatchObject(expected)
})

test('the target of a refused redirect is in the failure, for the log, and never in a location', () => {
  const judged = judgeThrown(new RedirectSignal('//evil.example', 307))
  expect(judged).toMatchObject({ thrown: { name: 'UnsafeRedirectError' } })
  expect(judged).not.toHaveProperty('location')
})

test.each([
  ['reset?token=SECRET', 'reset'],
  ['https://idp.example/cb?code=SECRET', 'https://idp.example/cb'],
  ['//evil.example/#SECRET', '//evil.example/'],
  ['https://ada:SECRET@evil.example/a', 'https://evil.example/a'],
])('%s is named as %s, without what may be secret', (to, shown) => {
  const judged = judgeThrown(new RedirectSignal(to, 307)) as { readonly thrown: Error }
  expect(judged.thrown.message).toContain(`"${shown}"`)
  expect(inspect(judged)).not.toContain('SECRET')
})

test('the message of a redirect does not name its target', () => {
  expect(new RedirectSignal('/reset?token=SECRET', 307)).toMatchObject({
    message: 'Redirect',
    to: '/reset?token=SECRET',
  })
})

test('what cannot be looked at is a failure that can', () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  expect(judgeThrown(proxy)).toMatchObject({ kind: 'failure', thrown: expect.any(Error) as Error })
})

test('a failure says when to try again only where its author has', () => {
  expect(retryHeaders(judgeFailure(new UnavailableError('later', { retryAfter: 7 })))).toEqual(['Retry-After', '7'])
  expect(retryHeaders(judgeFailure(new Error('x')))).toEqual([])
})
