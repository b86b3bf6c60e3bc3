import { expect, it } from 'vitest'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { compileRules } from '../../../src/shared/rules/compile-rules.ts'
import { resolveRoute } from '../../../src/shared/rules/resolve-route.ts'
import { ruleRequest } from './rule-vectors.ts'

/** Where a request for a path leads. */
function resolving(more: { readonly encodedSlashes?: true } = {}) {
  const has = [{ type: 'query', key: 'file', value: '(?<file>.+)' }] as const
  const rewrites = [
    { source: '/own/:path*', destination: 'http://up.test/group%2Fproject/:path*', ...more },
    { source: '/any/:path(.*)', destination: 'http://up.test/:path', ...more },
    { source: '/ask/:q', destination: 'http://up.test/search?q=:q', ...more },
    { source: '/file', has, destination: 'http://up.test/:file', ...more },
    { source: '/files', has, destination: 'http://up.test/:file*', ...more },
  ]
  const rules = compileRules({ rewrites }, loadExpressionEngine)
  return (path: string) => resolveRoute(rules, () => undefined, ruleRequest(path, {}))
}

it.each([
  '/own/a%2Fb',
  '/own/%2fb',
  '/own/a%5cb',
  '/own/a%252Fb',
  '/own/a%25252fb',
  '/own/a%25c0%25afb',
  '/any/x/a%2Fb',
  '/file?file=a/b',
  '/file?file=a%2Fb',
])('another origin does not get the hidden slash of %s, unless the rule says so', (path) => {
  expect(resolving()(path)).toMatchObject({ fault: 'bad-path-value', status: 400 })
  expect(resolving({ encodedSlashes: true })(path)).toMatchObject({ kind: 'proxy' })
})

it.each(['/own/a/b', '/own/%E6%9D%B1%EF%BC%8F', '/own/a%25b', '/any/a/b', '/ask/a%2Fb', '/files?file=a/b'])(
  '%s hides no slash in the path of another origin',
  (path) => {
    expect(resolving()(path)).toMatchObject({ kind: 'proxy' })
  },
)

it('a rule that forwards encoded slashes lets no request climb', () => {
  expect(resolving({ encodedSlashes: true })('/own/..%2Fb')).toMatchObject({ fault: 'bad-path-value' })
})
