import type { RouteDataHead } from '../../../shared/protocol/route-data.ts'
import type { RewritePhases, RuleCondition } from '../../../shared/rules/rule-types.ts'
import type { AppDefinition } from '../../api/define-app.ts'

/**
 * The parts of a URL that decide which route answers it: the path alone, unless a redirect or rewrite has a condition
 * on the query, or middleware may decide.
 */
export function routeScope({
  middleware,
  rules,
}: Pick<AppDefinition, 'middleware' | 'rules'>): NonNullable<RouteDataHead['scope']> {
  if (middleware !== undefined && middleware.length > 0) return 'url'
  const rewrites = rules?.rewrites ?? []
  const moving = [...(rules?.redirects ?? []), ...(isList(rewrites) ? rewrites : Object.values(rewrites).flat())]
  return moving.some(({ has, missing }) => onQuery(has) || onQuery(missing)) ? 'url' : 'path'
}

function isList(rewrites: readonly unknown[] | RewritePhases): rewrites is readonly never[] {
  return Array.isArray(rewrites)
}

function onQuery(conditions: readonly RuleCondition[] | undefined): boolean {
  return conditions?.some(({ type }) => type === 'query') === true
}
