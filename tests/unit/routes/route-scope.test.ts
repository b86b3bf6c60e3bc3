import { expect, test } from 'vitest'
import { routeScope } from '../../../src/server/routes/decide/route-scope.ts'

const onQuery = { source: '/a', destination: '/b', has: [{ type: 'query', key: 'x' }] }
const onHeader = { source: '/a', destination: '/b', has: [{ type: 'header', key: 'x' }] }

test.for([
  ['no rules', undefined, 'path'],
  ['a redirect by a header', { redirects: [onHeader] }, 'path'],
  ['a redirect by the query', { redirects: [onHeader, onQuery] }, 'url'],
  ['a list of rewrites', { rewrites: [onQuery] }, 'url'],
  ['a phase of rewrites', { rewrites: { fallback: [onQuery] } }, 'url'],
  // Next.js has functions here; the rules themselves are refused with a line that says what to write.
  ['functions', { redirects: async () => [onQuery], rewrites: async () => [] }, 'path'],
  ['what is not a list', { redirects: {}, rewrites: null }, 'path'],
  ['what is not a rule', { redirects: [null] }, 'path'],
] as const)('with %s, another part of the URL decides', ([, rules, scope]) => {
  expect(routeScope({ rules: rules as never })).toBe(scope)
})
