import { describe, expect, test } from 'vitest'
import { consoleText, reactComplaint } from '../../../src/client/dev/console-text.ts'
import type { DevFailure, DevFrame } from '../../../src/client/dev/dev-messages.ts'
import { addFailure, clearFailures, type ListedFailure } from '../../../src/client/dev/failure-list.ts'
import { failureText, failureTitle } from '../../../src/client/dev/failure-text.ts'
import { foldComponents, foldFrames } from '../../../src/client/dev/fold-frames.ts'

describe('a message of the console', () => {
  test.for([
    [['In HTML, %s cannot be a descendant of <%s>.', '<form>', 'p'], 'In HTML, <form> cannot be a descendant of <p>.'],
    [['%d of %i, %f', 1.9, '7.2', '1.5'], '1 of 7, 1.5'],
    [['100 %% of %s'], '100 % of %s'],
    [['%cstyled', 'color: red'], 'styled'],
    [['%o', { a: 1 }], '{"a":1}'],
    [['said', 'and', 2], 'said and 2'],
    [['$& %s', '$1'], '$& $1'],
    [[new TypeError('broken')], 'TypeError: broken'],
    [[], 'undefined'],
  ] as const)('%o is read with its arguments', ([args, text]) => {
    expect(consoleText(args)).toBe(text)
  })

  test.for([
    ['In HTML, %s cannot be a descendant of <%s>.\nThis will cause a hydration error.%s', 'failure'],
    ['A tree hydrated but some attributes did not match %s', 'failure'],
    ['Each child in a list should have a unique "key" prop.%s', 'warning'],
    ['<%s> cannot contain a nested %s.\nSee this log for the ancestor stack trace.', undefined],
    ['the application says so', undefined],
  ] as const)('%s is React’s: %s', ([text, kind]) => {
    expect(reactComplaint([text, 'a', 'b'])?.kind).toBe(kind)
  })

  test('that shows an error is no complaint: errors are heard elsewhere', () => {
    expect(reactComplaint(['%o\n\n%s', new Error('x'), 'React'])).toBeUndefined()
  })
})

const frame = (file: string, own: boolean, owner?: string): DevFrame => ({
  name: 'x',
  file,
  line: 1,
  column: 2,
  own,
  ...(owner === undefined ? {} : { owner }),
})

test('frames of others are folded behind one line that names them', () => {
  const groups = foldFrames([
    frame('node_modules/react-dom/a.js', false, 'React'),
    frame('src/page.tsx', true),
    frame('node_modules/react-dom/b.js', false, 'React'),
    frame('node:fs', false, 'Node'),
    frame('elsewhere.js', false),
    frame('src/app.ts', true),
  ])
  expect(groups.map((group) => (group.kind === 'own' ? group.frame.file : group.title))).toEqual([
    '1 frame of React',
    'src/page.tsx',
    '3 frames of React, Node and other code',
    'src/app.ts',
  ])
})

test('components of Millrace do not separate those of the project', () => {
  const groups = foldComponents([
    frame('src/page.tsx', true),
    frame('millrace/boundaries.js', false, 'Millrace'),
    frame('src/layout.tsx', true),
    frame('node_modules/charts/index.js', false, 'charts'),
    frame('millrace/client-root.js', false, 'Millrace'),
  ])
  expect(groups.map((group) => (group.kind === 'own' ? group.frame.file : group.title))).toEqual([
    'src/page.tsx',
    'src/layout.tsx',
    '1 frame of charts',
  ])
})

describe('the list of failures', () => {
  const failure = (part: Partial<DevFailure> = {}): DevFailure => ({
    kind: 'browser',
    message: 'Error: boom',
    frames: [frame('src/page.tsx', true)],
    ...part,
  })

  test('counts requests of one cause once, and those of another again', () => {
    const request = (id: string) => ({ id, method: 'GET', url: '/orders/13' })
    const seen = ['a', 'b', 'c'].map((id) =>
      failure({
        kind: 'server',
        digest: 'd',
        request: request(id),
        cause: id === 'c' ? 'navigation 2' : 'navigation 1',
      }),
    )
    const list = seen.reduce<readonly ListedFailure[]>((former, one) => addFailure(former, one).list, [])
    expect(list.map(({ count }) => count)).toEqual([2])
  })
  const addAll = (...failures: readonly DevFailure[]): readonly ListedFailure[] =>
    failures.reduce<readonly ListedFailure[]>((list, one) => addFailure(list, one).list, [])
  const request = (id: string, status?: number) => ({
    id,
    method: 'GET',
    url: '/',
    ...(status === undefined ? {} : { status }),
  })

  test.for([
    ['the same again', [failure(), failure()], [2]],
    ['the same on the other side', [failure(), failure({ kind: 'server' })], [2]],
    ['the same, where one side has no place', [failure({ frames: [] }), failure({ kind: 'server' })], [2]],
    ['another message', [failure(), failure({ message: 'Error: bang' })], [1, 1]],
    ['the same message elsewhere', [failure(), failure({ frames: [frame('src/other.tsx', true)] })], [1, 1]],
    ['another message with the same digest', [failure({ digest: 'a' }), failure({ digest: 'a', message: 'b' })], [2]],
    ['the status of its request', [failure({ request: request('1') }), failure({ request: request('1', 500) })], [1]],
    ['the same in another request', [failure({ request: request('1') }), failure({ request: request('2') })], [2]],
    ['a failed build, which may be the cause of all', [failure(), failure({ kind: 'build', message: 'syntax' })], [1]],
  ] as const)('%s', ([, failures, counts]) => {
    expect(addAll(...failures).map(({ count }) => count)).toEqual(counts)
  })

  test('keeps the place, the request and its status, whichever side has told them', () => {
    const [listed] = addAll(failure({ kind: 'server', frames: [], request: request('1', 500), digest: 'd' }), failure())
    expect(listed?.failure).toMatchObject({ request: { status: 500 }, digest: 'd', frames: [{ file: 'src/page.tsx' }] })
  })

  test('drops a failure when both sides are mended', () => {
    const both = addAll(failure(), failure({ kind: 'server' }))
    const half = clearFailures(both, ['server'])
    expect(half).toMatchObject([{ sides: ['browser'] }])
    expect(clearFailures(half, ['build', 'browser'])).toEqual([])
    expect(clearFailures(half, ['build'])).toBe(half)
  })

  test('is bounded', () => {
    const many = Array.from({ length: 100 }, (_, index) => failure({ message: String(index) }))
    expect(addAll(...many)).toHaveLength(10)
  })
})

test('a failure is copied with its message, frames, request and versions', () => {
  const failure: DevFailure = {
    kind: 'server',
    message: 'Error: no order',
    frames: [frame('src/order.server.ts', true)],
    excerpt: '> 4 | throw',
    digest: 'abc',
    request: {
      id: 'r1',
      method: 'GET',
      url: '/orders/13',
      route: '/orders/[id]',
      status: 500,
      loader: '/orders/[id]#page',
    },
  }
  expect(failureTitle(failure)).toBe('A loader failed on the server')
  expect(failureTitle({ kind: 'server', message: 'no pool', frames: [] })).toBe(
    'The server failed outside of a request',
  )
  expect(failureText(failure, 'Millrace 0.1.0')).toBe(
    [
      'A loader failed on the server\nError: no order',
      '> 4 | throw',
      'Stack:\n  at x  src/order.server.ts:1:2',
      'Request: GET /orders/13\nRoute: /orders/[id]\nLoader: /orders/[id]#page\nStatus: 500\nRequest id: r1\n' +
        'Digest: abc\nVersions: Millrace 0.1.0',
    ].join('\n\n'),
  )
})
