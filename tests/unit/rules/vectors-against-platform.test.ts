/** Sources and conditions of the vectors, and some like them, on texts of all kinds: what the platform's engine says of them. */
import { assert, constantFrom, oneof, property, tuple } from 'fast-check'
import { parse, tokensToRegexp } from 'path-to-regexp'
import { describe, expect, it } from 'vitest'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { compileConditions } from '../../../src/shared/rules/conditions.ts'
import { readRulePath } from '../../../src/shared/rules/rule-path.ts'
import { subjectOf } from '../../../src/shared/rules/rule-request.ts'
import { compileSource } from '../../../src/shared/rules/rule-source.ts'
import type { RuleSet } from '../../../src/shared/rules/rule-types.ts'
import { capturedValues, refuse, ruleRequest, vectors } from './rule-vectors.ts'

// As tables have them that come from Next.js.
const COMMON = [
  '/((?!api|_next/static|_next/image|favicon.ico).*)',
  '/:path((?!another-page$).*)',
  '/:path((?!_next|api|.*\\..*).*)',
  '/:lang/((?!uk/).*)',
  '/:lang(en|de)/:rest((?!old).*)',
  '/:path((?!uk/).*)/x',
  '/docs/:slug([\\w-]{1,80})',
  '/:year(\\d{4})-:month(\\d{2})/:slug*',
  '/:from-to-:to',
  '/:a.:b.:c',
  '/:file*.html',
  '/:path*/:last',
]

const allRules = vectors.endToEndRules.flatMap(
  ({ rules: { redirects = [], rewrites = [], headers = [] } }: { rules: RuleSet }) => [
    ...redirects,
    ...(Array.isArray(rewrites) ? rewrites : Object.values(rewrites).flat()),
    ...headers,
  ],
)
const sources = [...new Set([...COMMON, ...[...vectors.ruleSources, ...allRules].map(({ source }) => source)])]
const targets = vectors.endToEndRules.map(({ request }) => request.target.replace(/\?.*/s, ''))
const paths = [
  ...vectors.ruleSources.map(({ path }) => path),
  ...targets,
  '/api/x',
  '/en/old',
  '/uk/x',
  '/a-to-b-to-c',
  '/2026-11/a.html',
]
const pieces = paths.flatMap((path) => path.split('/').filter((piece) => piece !== ''))
const anyPath = oneof(
  constantFrom(...paths),
  tuple(constantFrom(...paths), constantFrom(...pieces), constantFrom('', '/', '-', '.', '-to-')).map(
    ([path, piece, join]) => `${path === '/' ? '' : path}${join}${piece}`.replace(/^(?!\/)/, '/'),
  ),
)

const conditions = [...vectors.hasMissing, ...allRules].flatMap(({ has = [], missing = [] }) => [...has, ...missing])
const values = [...new Set(conditions.flatMap(({ value = '' }) => (value === '' ? [] : [value])))]
const texts = [
  '',
  '1',
  '2',
  '12',
  'hello',
  'hell',
  'true',
  'example.com',
  'api.example.com',
  'api.example,com',
  'a',
  'ab',
  '\u212a',
  'x\n',
  'a\u2028b',
  '\u{1f600}',
]

describe('against the platform', () => {
  it('sources of the vectors match and capture the same', () => {
    assert(
      property(constantFrom(...sources), anyPath, (source, path) => {
        const keys: { name: string | number }[] = []
        const expression = tokensToRegexp(parse(source, { delimiter: '/' }), keys as never, {
          delimiter: '/',
          strict: false,
        })
        const { canonical } = readRulePath(path)
        const found = new RegExp(expression.source, 'i').exec(canonical)
        const captured = capturedValues(
          compileSource(source, refuse, loadExpressionEngine).match(readRulePath(canonical)),
        )
        expect(captured !== null, `${source} on ${path}`).toBe(found !== null)
        for (const [at, { name }] of keys.entries()) {
          if (found === null || typeof name === 'number') continue
          const value = captured?.[name]
          expect(Array.isArray(value) ? value.join('/') : value, `${source} on ${path}`).toBe(found[at + 1])
        }
      }),
      { numRuns: 3_000 },
    )
  })

  it.each(values)('a condition with %s holds and captures the same', (value) => {
    const compiled = compileConditions([{ type: 'header', key: 'a', value }], undefined, refuse, loadExpressionEngine)
    for (const text of texts) {
      const found = new RegExp(`^(?:${value})$`, 'u').exec(text)
      const captured = capturedValues(compiled.match(subjectOf(ruleRequest('/', { a: text }))))
      expect([text, captured]).toEqual([text, found && { ...found.groups }])
    }
  })
})
