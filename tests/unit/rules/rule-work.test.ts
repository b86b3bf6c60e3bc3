/** What matching rules costs, however a visitor writes path, headers, cookies and query. */
import { assert, constantFrom, property } from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { compileRules } from '../../../src/shared/rules/compile-rules.ts'
import { headersFor } from '../../../src/shared/rules/headers-for.ts'
import { redirectFor } from '../../../src/shared/rules/redirect-for.ts'
import type { RuleCondition, RuleSet } from '../../../src/shared/rules/rule-types.ts'
import { ruleRequest } from './rule-vectors.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const redirects = (rule: object): RuleSet => ({ redirects: [{ destination: '/', permanent: false, ...rule } as never] })

/** How many characters of its texts a rule reads. */
function readsOf(work: () => void): number {
  const spy = vi.spyOn(String.prototype, 'charCodeAt')
  work()
  const reads = spy.mock.calls.length
  spy.mockRestore()
  return reads
}

// On each of these V8 takes time that grows with a power of the text, or doubles with each character.
const SLOW: readonly (readonly [value: string, unit: string, longest?: number])[] = [
  ['(a+)+b', 'a'],
  ['(?:a|aa)+b', 'a'],
  ['(?:[a-z]+/?)+!', 'ab/'],
  ['.*x.*x.*x.*y', 'x'],
  ['(?:\\s*,?\\s*)*;', ' , '],
  ['(?!.*b.*b.*c)(?:a?)+d', 'ab'],
  ['(?:\\w+\\s?)*\\.', 'aa '],
  ['(?:a{0,9}){0,9}(?:a{0,9}){0,9}b', 'a', 1_024], // a longer text is refused
]

describe('a rule', () => {
  it.for(SLOW)(
    'with %s reads a longer text in proportion, in its path and in each condition',
    ([value, unit, longest = 16_384]) => {
      const text = (length: number): string => unit.repeat(length / unit.length)
      const conditions: readonly [RuleCondition, (length: number) => ReturnType<typeof ruleRequest>][] = [
        [{ type: 'header', key: 'x-a', value }, (length) => ruleRequest('/', { 'x-a': text(length) })],
        [{ type: 'cookie', key: 'a', value }, (length) => ruleRequest('/', { cookie: `a=${text(length)}` })],
        [{ type: 'query', key: 'a', value }, (length) => ruleRequest(`/?a=${encodeURIComponent(text(length))}`)],
      ]
      for (const [condition, request] of conditions) {
        const rules = compileRules(redirects({ source: '/:all*', has: [condition] }), loadExpressionEngine)
        const missing = compileRules(redirects({ source: '/:all*', missing: [condition] }), loadExpressionEngine)
        const reads = [longest / 4, longest / 2, longest].map((length) =>
          readsOf(() => {
            expect(redirectFor(rules, request(length))).toBeUndefined()
            expect(redirectFor(missing, request(length))).toBeDefined()
          }),
        )
        const [first = 0, second = 0, third = 0] = reads
        expect(first).toBeGreaterThan(0)
        expect(second / first).toBeLessThan(2.5)
        expect(third / second).toBeLessThan(2.5)
      }
    },
  )

  it('reads a longer path in proportion', () => {
    for (const source of ['/:a*/x/:b*/y/:c*/z', '/:a(.*)x:b(.*)x:c(.*)y', '/:a((?:(?:[a-z]+)+/?)+)!', '/:a-to-:b']) {
      const rules = compileRules(redirects({ source }), loadExpressionEngine)
      const reads = [2_048, 4_096, 8_192].map((length) =>
        readsOf(() => {
          expect(redirectFor(rules, ruleRequest(`/${'x-to'.repeat(length / 4)}`))).toBeUndefined()
        }),
      )
      const [first = 0, second = 0, third = 0] = reads
      expect(second).toBeLessThan(2.5 * first)
      expect(third).toBeLessThan(2.5 * second)
    }
  })

  it('never has the platform run its expression on what a visitor sends', () => {
    const MARK = 'millmark'
    const expressions = constantFrom('.*', '[^/]+', '(?:a|b)+', '\\d{1,3}', '(?!api).*', '[a-z]+-?', '\\w*\\s?', 'a')
    const texts = constantFrom('', MARK, 'api', 'aab', '12', 'a-', 'x'.repeat(40), 'a '.repeat(20))
    const ran = new Set<string>()
    assert(
      property(expressions, expressions, texts, texts, (first, second, text, other) => {
        const value = `(?:${MARK}${first}|${second})`.replaceAll('(?!api)', '')
        const has = (['header', 'cookie', 'query'] as const).map((type) => ({ type, key: 'a', value }))
        const sources = [
          `/${MARK}/:a(${first})`,
          `/:a(${first})/:b(${second.replace('(?!api)', '')})?`,
          `/:${MARK}*/x/:b*`,
        ]
        const rules = sources.map((source) =>
          compileRules(
            {
              ...redirects({ source, has, missing: [{ type: 'host', value }] }),
              headers: [{ source, headers: [{ key: 'x', value: '1' }] }],
            },
            loadExpressionEngine,
          ),
        )
        // eslint-disable-next-line @typescript-eslint/unbound-method
        const exec = RegExp.prototype.exec
        const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, input) {
          ran.add(this.source)
          return exec.call(this, input)
        })
        const compiled = vi.spyOn(globalThis, 'RegExp')
        for (const each of rules) {
          for (const path of [`/${MARK}/${encodeURI(text)}`, `/${encodeURI(text)}/${encodeURI(other)}`, '/a/x/b']) {
            const request = ruleRequest(`${path}?a=${encodeURIComponent(other)}`, { a: text, cookie: `a=${text}` })
            redirectFor(each, request)
            headersFor(each, request)
          }
        }
        const made = compiled.mock.calls.length
        compiled.mockRestore()
        spy.mockRestore()
        expect(made).toBe(0)
      }),
      { numRuns: 60 },
    )
    expect([...ran].filter((source) => source.includes(MARK))).toEqual([])
    // What remains is of this code and the same for every table: 6, or 12 when one of the redirects answered. Those of
    // sixty tables would be more than a hundred.
    expect(ran.size).toBeLessThan(30)
  })

  it('without an expression does not load what matches them', () => {
    const load = vi.fn<typeof loadExpressionEngine>(loadExpressionEngine)
    const plain: RuleSet = {
      redirects: [
        { source: '/old/:id', destination: '/new/:id', permanent: true },
        { source: '/a/:path*', destination: '/b/:path*', permanent: true },
        { source: '/x/:lang?/about', destination: '/about', permanent: true },
        { source: '/', has: [{ type: 'cookie', key: 'a', value: 'true' }], destination: '/b', permanent: true },
      ],
      headers: [{ source: '/:path*', headers: [{ key: 'x', value: '1' }] }],
    }
    compileRules(plain, load)
    expect(load).not.toHaveBeenCalled()
    compileRules(redirects({ source: '/:id(\\d+)' }), load)
    expect(load).toHaveBeenCalled()
  })
})
