import { describe, expect, it } from 'vitest'
import type { RuleSet } from '../../../src/shared/rules/rule-types.ts'
import { isAllowedOrigin } from '../../../src/shared/origin-matching.ts'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { compileRules } from '../../../src/shared/rules/compile-rules.ts'
import { compileConditions } from '../../../src/shared/rules/conditions.ts'
import { compileDestination, fillDestination } from '../../../src/shared/rules/destination.ts'
import { queryPair } from '../../../src/shared/rules/query-pairs.ts'
import { redirectFor } from '../../../src/shared/rules/redirect-for.ts'
import { resolveRoute } from '../../../src/shared/rules/resolve-route.ts'
import { readRulePath } from '../../../src/shared/rules/rule-path.ts'
import { subjectOf } from '../../../src/shared/rules/rule-request.ts'
import { compileSource } from '../../../src/shared/rules/rule-source.ts'
import { capturedValues, refuse, ruleErrorOf, ruleRequest, titled, valuesOf, vectors } from './rule-vectors.ts'

const page = () => Promise.resolve({})

describe('the source of a rule', () => {
  const cases = vectors.ruleSources.filter((vector) => vector.for !== 'redirect')
  it.each(titled(cases))('%s', (_title, { source, path, captured }) => {
    const captures = compileSource(source, refuse, loadExpressionEngine).match(readRulePath(path))
    expect(capturedValues(captures)).toEqual(captured)
  })

  const redirects = vectors.ruleSources.filter((vector) => vector.for === 'redirect')
  it.each(titled(redirects))('%s', (_title, { source, path, captured }) => {
    const rules = compileRules(
      { redirects: [{ source, destination: '/landed', permanent: false }] },
      loadExpressionEngine,
    )
    expect(redirectFor(rules, ruleRequest(path))?.status).toBe(captured === null ? undefined : 307)
  })
})

describe('a destination filled in', () => {
  it.each(titled(vectors.destinations))('%s', (_title, { kind, destination, params, query, result }) => {
    const names = new Set([
      ...Object.keys(params),
      ...Array.from(destination.matchAll(/:([a-z]\w*)/g), ([, name = '']) => name),
    ])
    const captures = new Map(Object.entries(params).map(([name, value]) => [name, { value, encoded: true }]))
    const pairs = Object.entries(query).flatMap(([key, value]) => [value].flat().map((each) => queryPair(key, each)))
    const filled = fillDestination(compileDestination(destination, names, refuse), captures, pairs, kind === 'rewrite')
    if (filled.fault !== undefined) return expect({ error: filled.fault }).toEqual(result)
    const { origin, pathname, hash } = filled
    expect({
      ...(origin === '' ? { pathname } : { url: origin + pathname }),
      query: valuesOf(filled.query.map(({ key, value }) => [key, value])),
      ...(hash === '' ? {} : { hash }),
    }).toEqual(result)
  })
})

describe('has and missing', () => {
  it.each(titled(vectors.hasMissing))('%s', (_title, { request, has, missing, captured }) => {
    const pairs = Object.entries(request.query).flatMap(([key, value]) =>
      [value].flat().map((each) => queryPair(key, each)),
    )
    const subject = subjectOf({
      pathname: '/',
      search: `?${pairs.map(({ raw }) => raw).join('&')}`,
      host: request.host,
      header: (name) => request.headers[name],
      cookies: () => request.cookies,
    })
    const captures = compileConditions(has, missing, refuse, loadExpressionEngine).match(subject)
    expect(capturedValues(captures)).toEqual(captured)
  })
})

describe('a whole table', () => {
  it.each(titled(vectors.endToEndRules))('%s', (_title, { routes = [], rules, request, expect: expected }) => {
    const compiled = compileRules(rules, loadExpressionEngine)
    const asked = ruleRequest(request.target, request.headers)
    const redirect = redirectFor(compiled, asked)
    if (redirect !== undefined) {
      if (redirect.fault !== undefined) throw new Error(redirect.fault)
      expect(redirect.status).toBe(expected.status)
      return expect(comparable(redirect.location)).toEqual(comparable(expected.location ?? ''))
    }
    const table = createRouteTable(Object.fromEntries(routes.map((pattern) => [pattern, { page }])))
    const resolution = resolveRoute(compiled, table.match, asked)
    if (resolution.kind !== 'route') {
      const status = { none: 404, undecodable: 400, proxy: 502, 'bad-destination': 500 }[resolution.kind]
      return expect({ status }).toEqual(expected)
    }
    const { match, search } = resolution
    expect({
      status: 200,
      renders: {
        pattern: match.route.pattern,
        params: { ...match.params },
        query: valuesOf(new URLSearchParams(search)),
      },
    }).toEqual(expected)
  })
})

describe('a faulty rule stops the build', () => {
  it.each(titled(vectors.invalidRules))('%s', (_title, { for: kind, rule, kind: fault }) => {
    const error = ruleErrorOf(() => compileRules({ [`${kind}s`]: [rule] } as RuleSet, loadExpressionEngine))
    expect(error).toMatchObject({ kind: fault, for: kind, index: 0 })
    expect(error?.message).toContain(`${kind}s[0]`)
  })
})

describe('the origin of an action', () => {
  it.each(titled(vectors.originMatching))('%s', (_title, { origin, allowed, ok }) => {
    expect(isAllowedOrigin(origin, allowed)).toBe(ok)
  })
})

/** Path and hash as they are, the query as decoded pairs in any order. */
function comparable(location: string) {
  expect(location).toMatch(/^[\x21-\x7e]*$/)
  const [, before = '', query = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(location) ?? []
  return { before, hash, query: Array.from(new URLSearchParams(query), (pair) => pair.join('=')).toSorted() }
}
