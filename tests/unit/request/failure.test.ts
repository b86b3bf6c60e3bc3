import { assert, boolean, constantFrom, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  controlFlowDigest,
  controlFlowOf,
  notFound,
  redirect,
  RedirectSignal,
  RefusalSignal,
} from '../../../src/shared/control-flow.ts'
import { errorDigest, reportFailure } from '../../../src/server/request/answer/failure.ts'
import { RequestAborted } from '../../../src/server/request/request-aborted.ts'
import { detachedRequest } from './request-context.ts'

/** What React leaves of an error on its way into the browser. */
const travelled = (thrown: unknown): Error => Object.assign(new Error('text'), { digest: controlFlowDigest(thrown) })

describe('control flow on its way through React', () => {
  test('a redirect arrives as it was thrown, whatever its target', () => {
    const statuses = constantFrom(301, 302, 303, 307, 308)
    assert(
      property(string({ unit: 'binary' }), statuses, boolean(), (to, status, external) => {
        const arrived = controlFlowOf(travelled(new RedirectSignal(to, status, external)))
        expect(arrived).toBeInstanceOf(RedirectSignal)
        expect(arrived).toMatchObject({ to, status, external })
      }),
    )
  })

  test.for(['notFound', 'forbidden', 'unauthorized'] as const)('%s arrives as it was thrown', (kind) => {
    const arrived = controlFlowOf(travelled(new RefusalSignal(kind)))
    expect(arrived).toBeInstanceOf(RefusalSignal)
    expect(arrived).toMatchObject({ kind })
  })

  test.for([
    'millrace:constructor',
    'millrace:__proto__',
    'millrace:redirect',
    'millrace:redirect:200::/',
    'millrace:redirect:307:inside:/',
    'notFound',
    'abcdef012345',
  ])('an error with the digest %s is none', (digest) => {
    expect(controlFlowOf(Object.assign(new Error('x'), { digest }))).toBeUndefined()
  })

  test.for([undefined, null, 'millrace:notFound', 7, { digest: 7 }])('%j is none', (thrown) => {
    expect(controlFlowOf(thrown)).toBeUndefined()
  })

  test('is thrown by the functions of that name', () => {
    expect(() => redirect('/a')).toThrow(expect.objectContaining({ to: '/a', status: 307, external: false }))
    expect(() => notFound()).toThrow(expect.objectContaining({ kind: 'notFound' }))
  })
})

const unreadable = (): never => {
  throw new Error('unreadable')
}

describe('a failure', () => {
  test('is named by a digest that tells nothing of it, equal for page and log', () => {
    const { context, logs } = detachedRequest()
    const digest = reportFailure(new TypeError('secret-canary'), context, 'loader')
    expect(digest).toMatch(/^[0-9a-f]{12}$/)
    expect(logs).toMatchObject([
      { level: 50, digest, place: 'loader', err: { type: 'TypeError', message: 'secret-canary' } },
    ])
  })

  test('is logged once a request, and again for the next', () => {
    const [one, two] = [detachedRequest(), detachedRequest()]
    const error = new Error('again')
    for (const place of ['loader', 'render', 'stream'] as const) reportFailure(error, one.context, place)
    reportFailure(error, two.context, 'loader')
    expect([one.logs.length, two.logs.length]).toEqual([1, 1])
  })

  test('leaves out members that parsers and clients hang on errors', () => {
    const { context, logs } = detachedRequest()
    const cause = Object.assign(new Error('inner'), { headers: 'secret-canary' })
    reportFailure(Object.assign(new Error('outer', { cause }), { body: 'secret-canary' }), context, 'server')
    expect(JSON.stringify(logs)).not.toContain('secret-canary')
    expect(logs).toMatchObject([{ err: { message: 'outer', cause: { message: 'inner' } } }])
  })

  test.for([['a string'], [undefined], [null], [{ any: 'object' }], [7n]])('may be anything thrown: %o', ([thrown]) => {
    const { context, logs } = detachedRequest()
    expect(reportFailure(thrown, context, 'loader')).toBe(errorDigest(thrown))
    expect(logs).toHaveLength(1)
  })

  test.for([
    ['an object without a prototype', () => Object.create(null) as unknown],
    ['a text that cannot be had', () => ({ toString: () => ({}) })],
    ['members that throw', () => Object.defineProperty(new Error('x'), 'message', { get: unreadable })],
    [
      'a cause that throws',
      () => new Error('x', { cause: Object.defineProperty(new Error('y'), 'name', { get: unreadable }) }),
    ],
    ['a proxy that throws', () => new Proxy({}, { get: unreadable })],
  ] as const)('may be something that cannot be described: %s', ([, make]) => {
    const { context, logs } = detachedRequest()
    expect(reportFailure(make(), context, 'deferred')).toMatch(/^[0-9a-f]{12}$/)
    expect(logs).toMatchObject([{ level: 50, err: { message: 'something was thrown that cannot be described' } }])
  })

  test('is a redirect that nobody may follow, told once however often it is met', () => {
    const { context, logs } = detachedRequest()
    const signal = new RedirectSignal('//evil.test', 307)
    const digest = reportFailure(signal, context, 'deferred')
    expect(digest).toMatch(/^[0-9a-f]{12}$/)
    expect(reportFailure(signal, context, 'stream')).toBe(digest)
    expect(logs).toMatchObject([{ digest, err: { type: 'UnsafeRedirectError' } }])
    expect(JSON.stringify(logs)).toContain('failure.test.ts')
    expect(reportFailure(new RedirectSignal('https://other.test/', 307, true), context, 'stream')).toMatch(/^millrace:/)
  })

  test('is neither control flow nor a client that went away', () => {
    const { context, logs } = detachedRequest()
    expect(reportFailure(new RefusalSignal('notFound'), context, 'loader')).toBe('millrace:notFound')
    expect(reportFailure(new RequestAborted('gone'), context, 'stream')).toBe('')
    expect(logs).toEqual([])
    reportFailure(new RequestAborted('timeout'), context, 'stream')
    expect(logs).toHaveLength(1)
  })
})
