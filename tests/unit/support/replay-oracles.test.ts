import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RawResponse } from '../../support/raw-response.ts'
import { faultsOf, isSitePath } from '../../support/replay-oracles.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const SECRET = 'a-secret-of-the-server'

function answer(status: number, headers: Readonly<Record<string, string>> = {}, text = ''): RawResponse {
  const list = Object.entries({ 'Content-Type': 'text/html', 'Cache-Control': 'no-store', ...headers })
  return {
    version: 'HTTP/1.1',
    status,
    reason: '',
    headers: list,
    header: (name) => list.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1],
    interim: [],
    framing: 'length',
    chunks: [],
    trailers: [],
    body: Buffer.from(text),
    text,
    complete: true,
  }
}
const faults = (given: RawResponse, permitted: readonly number[] = []) =>
  faultsOf(given, { secrets: [SECRET], permitted })

describe('an answer is faulty', () => {
  test.for([
    ['a failure', answer(500)],
    ['a refusal that caches may keep', answer(404, { 'Cache-Control': 'public, max-age=60' })],
    ['a refusal that says nothing of caches', answer(404, { 'Cache-Control': '' })],
    ['the faults of a form that are used again', answer(422, { 'Cache-Control': 'private, max-age=60' })],
    ['the faults of a form with a tag', answer(422, { 'Cache-Control': 'private, no-cache', ETag: '"a"' })],
    ['a shared page with a nonce', answer(200, { 'Cache-Control': 'public' }, '<script nonce="x"></script>')],
    ['a shared page with a cookie', answer(200, { 'Cache-Control': 'public', 'Set-Cookie': 'a=b' })],
    ['the name of the framework', answer(200, { 'X-Powered-By': 'Express' })],
    ['the foreign host in a header', answer(200, { Link: '<https://evil.test/>; rel=canonical' })],
    ['a Location elsewhere', answer(307, { Location: 'https://evil.test/' })],
    ['a Location that browsers read as another host', answer(307, { Location: '//evil.test/' })],
    ['a Location with a backslash', answer(307, { Location: '/\\evil.test/' })],
    ['a stack', answer(200, {}, 'Error: x\n    at loader (main.js:10:20)\n')],
    ['a stack in a header', answer(200, { 'X-Error': 'file:///srv/main.js' })],
    ['the name of a file', answer(200, {}, 'at node:internal/timers')],
    ['a path of the project', answer(200, {}, `${PROJECT}/src/app/app.ts`)],
    ['a path of the user', answer(200, {}, `${homedir()}/x`)],
    ['a secret', answer(200, {}, `key=${SECRET}`)],
    ['a secret in a header', answer(200, { 'X-Key': SECRET })],
    ['a script of the visitor', answer(200, {}, '<p><script>alert(1)</script></p>')],
    ['a handler of the visitor', answer(200, {}, '<p onclick="alert(1)">')],
    ['a link elsewhere', answer(200, {}, '<a href="//evil.test/x">')],
    ['a form that posts elsewhere', answer(200, {}, '<form action="https://evil.test">')],
    ['a link that runs script', answer(200, {}, '<a href="javascript:alert(1)">')],
    ['a refresh elsewhere', answer(200, {}, '<meta http-equiv="refresh" content="0;url=//evil.test/">')],
  ] as const)('for %s', ([, given]) => {
    expect(faults(given)).not.toEqual([])
  })
})

describe('an answer is harmless', () => {
  test.for([
    [
      'a page',
      answer(200, { 'Cache-Control': 'private, no-cache' }, '<a href="/lab">Lab</a><script nonce="x">1</script>'),
    ],
    ['a refusal', answer(404)],
    ['a redirect', answer(308, { Location: '/evil.test' })],
    ['escaped text', answer(200, {}, '<p>evil.test &lt;script>alert(1)&lt;/script></p>')],
    ['the foreign host as data of a path of ours', answer(200, {}, '<form action="/x?to=//evil.test">')],
    ['a word that begins like a stack', answer(200, {}, 'Look\n  at the mill\n')],
  ] as const)('%s', ([, given]) => {
    expect(faults(given)).toEqual([])
  })

  test('a failure that was asked for', () => {
    expect(faults(answer(503), [503])).toEqual([])
    expect(faults(answer(500), [503])).not.toEqual([])
  })
})

test.for([
  ['/', true],
  ['/a//b', true],
  ['//a', false],
  ['/\\a', false],
  ['a', false],
  ['', false],
  ['/a\tb', false],
  ['/a b', false],
  ['https://a/', false],
] as const)('the Location %j stays on the site: %j', ([location, stays]) => {
  expect(isSitePath(location)).toBe(stays)
})
