import { expect, test } from 'vitest'
import { compileRules } from '../../../src/shared/rules/compile-rules.ts'
import type { RuleSet } from '../../../src/shared/rules/rule-types.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { askedRoutes } from '../../../src/server/routes/decide/asked-routes.ts'

const module = (): Promise<unknown> => Promise.resolve({})

const table = createRouteTable({
  '/': { page: module },
  '/about': { page: module },
  '/über': { page: module },
  '/(site)/u/[name]': { page: module },
  '/data': { page: module, loader: module },
})

function asked(rules: RuleSet, isDecidedBefore = false): readonly string[] | undefined {
  return askedRoutes(table, compileRules(rules, loadExpressionEngine), isDecidedBefore)?.toSorted()
}

const ANYBODY = [{ type: 'cookie', key: 'team' }] as const

test.for<readonly [what: string, rules: RuleSet, keys: readonly string[]]>([
  ['no rules', {}, []],
  ['headers', { headers: [{ source: '/:path*', headers: [{ key: 'X-A', value: 'b' }] }] }, []],
  [
    'a redirect of another path',
    { redirects: [{ source: '/old', destination: '/about', permanent: true }] },
    ['/(site)/u/[name]'],
  ],
  [
    'a redirect of a page',
    { redirects: [{ source: '/about', destination: '/', permanent: true }] },
    ['/about', '/(site)/u/[name]'],
  ],
  [
    'a redirect with a condition',
    { redirects: [{ source: '/about', has: [...ANYBODY], destination: '/', permanent: false }] },
    ['/about', '/(site)/u/[name]'],
  ],
  [
    'a redirect of a page that is written in another way',
    { redirects: [{ source: '/:page(%C3%BCber)', destination: '/', permanent: true }] },
    ['/über', '/(site)/u/[name]'],
  ],
  [
    'a redirect of all',
    { redirects: [{ source: '/:path*', destination: '/', permanent: true }] },
    ['/', '/about', '/über', '/(site)/u/[name]'],
  ],
  [
    'a rewrite before pages',
    { rewrites: { beforeFiles: [{ source: '/about', destination: '/' }] } },
    ['/about', '/(site)/u/[name]'],
  ],
  [
    'a rewrite after pages without params',
    { rewrites: [{ source: '/about', destination: '/' }] },
    ['/(site)/u/[name]'],
  ],
  ['a rewrite after all pages', { rewrites: { fallback: [{ source: '/:path*', destination: '/' }] } }, []],
])('the server is asked for pages without a loader: %s', ([, rules, keys]) => {
  expect(asked(rules)).toEqual(keys.toSorted())
})

test('the server is asked for all pages where something decides before the table', () => {
  expect(asked({}, true)).toBeUndefined()
})

test('the server is asked for pages below a guard; those with a loader are asked for anyway', () => {
  const guarded = createRouteTable({
    '/': { page: module },
    '/team': { guard: module } as object,
    '/team/page': { page: module },
    '/team/feed': { handler: module },
    '/team/data': { page: module, loader: module },
  })
  expect(askedRoutes(guarded, compileRules({}, loadExpressionEngine), false)).toEqual(['/team/page'])
})
