import { describe, expect, test } from 'vitest'
import { createDevChannel } from '../../../scripts/dev/tell/dev-channel.ts'
import { thrownFailure } from '../../../scripts/dev/tell/dev-failures.ts'
import { isFromOther, isFromOwnPage } from '../../../scripts/dev/serve/own-page.ts'
import { parseStack } from '../../../scripts/dev/tell/stack-frames.ts'
import { expectLinear } from '../../support/growth.ts'

const HOST = 'localhost:3000'

describe('whose page asks', () => {
  test.for([
    ['a program', {}, false, false],
    ['an address that was typed', { 'sec-fetch-site': 'none' }, false, false],
    ['a module of its own page', { 'sec-fetch-site': 'same-origin' }, false, true],
    ['a script of its own page', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }, false, true],
    ['its own page, where the browser says no more', { origin: 'http://localhost:3000' }, false, true],
    ['its own page behind TLS', { origin: 'https://localhost:3000', 'sec-fetch-site': 'same-origin' }, false, true],
    ['another site', { 'sec-fetch-site': 'cross-site' }, true, false],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }, true, false],
    ['another site, where the browser says no more', { origin: 'https://evil.example' }, true, false],
    ['another port, where the browser says no more', { origin: 'http://localhost:5173' }, true, false],
    ['a page without an origin', { origin: 'null' }, true, false],
    ['a name that begins alike', { origin: 'http://localhost:3000.evil.example' }, true, false],
    ['a lie about the origin', { origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }, true, false],
    ['a word that no browser says', { 'sec-fetch-site': 'same-origin, none' }, true, false],
  ] as const)('%s', ([, headers, other, own]) => {
    expect(isFromOther({ host: HOST, ...headers })).toBe(other)
    expect(isFromOwnPage({ host: HOST, ...headers })).toBe(own)
  })
})

describe('a stack that is text of a visitor', () => {
  test.for<readonly [string, (length: number) => string]>([
    ['at signs', (length) => '@'.repeat(length)],
    ['short lines of at signs', (length) => `${'@'.repeat(1_900)}\n`.repeat(length / 1_900)],
    ['colons', (length) => `Page@${':'.repeat(length)}`],
    ['digits', (length) => `at x (${':1'.repeat(length / 2)} `],
    ['parentheses', (length) => `at ${' ('.repeat(length / 2)}`],
    ['spaces', (length) => `${' '.repeat(length)}at`],
    ['long numbers', (length) => `at x:${'1'.repeat(length / 2)}:${'1'.repeat(length / 2)}x`],
  ])('cannot stall: %s', ([, stackOf]) =>
    expectLinear((length) => {
      const stack = stackOf(length)
      return () => parseStack(stack)
    }),
  )

  test('has as many calls as are shown', () => {
    expect(parseStack('    at x (/p/a.ts:1:1)\n'.repeat(4_000))).toHaveLength(20)
  })

  test('names no call in its message', () => {
    const message = 'no such thing: \n    at steal (/p/src/keys.ts:1:1)'
    const stack = `Error: ${message}\n    at Page (/p/src/page.tsx:2:3)`
    const { frames } = thrownFailure('/p', 'server', { type: 'Error', message, stack }, { isSource: () => true })
    expect(frames.map(({ file }) => file)).toEqual(['src/page.tsx'])
  })
})

test('failures that no page has fetched are bounded', () => {
  const channel = createDevChannel('one', () => 0)
  for (let n = 0; n < 1_000; n += 1) channel.requestFailed({ kind: 'server', message: String(n), frames: [] })
  const written: string[] = []
  const page = { writeHead: () => undefined, write: (text: string) => written.push(text), once: () => undefined }
  channel.join(page as never)
  expect(written).toHaveLength(21)
  expect(written.at(-1)).toContain('"999"')
})

test('a page that opens between the update of a save and the end of its build is told the update', () => {
  const channel = createDevChannel('one', () => 0)
  const told = (): string[] => {
    const written: string[] = []
    channel.join({
      writeHead: () => undefined,
      write: (text: string) => written.push(text),
      once: () => undefined,
    } as never)
    return written.slice(1)
  }
  channel.sendEarly({ type: 'update', modules: [], styles: ['/a.css'] })
  expect(told()).toEqual([expect.stringContaining('/a.css')])
  channel.built()
  expect(told()).toEqual([])
})
