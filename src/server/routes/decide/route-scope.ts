import type { RouteDataHead } from '../../../shared/protocol/route-data.ts'
import type { RuleCondition } from '../../../shared/rules/rule-types.ts'
import type { AppDefinition } from '../../api/define-app.ts'

type Rule = { readonly has?: readonly RuleCondition[]; readonly missing?: readonly RuleCondition[] } | null

/**
 * The parts of a URL that decide which route answers it: the path alone, unless a redirect or rewrite has a condition
 * on the query, or middleware may decide.
 */
export function routeScope({
  middleware,
  rules,
}: Pick<AppDefinition, 'middleware' | 'rules'>): NonNullable<RouteDataHead['scope']> {
  if (middleware !== undefined && middleware.length > 0) return 'url'
  // Anything but a list is refused with the rules.
  const lists = [rules?.redirects, rules?.rewrites, ...Object.values(rules?.rewrites ?? {})].filter(isList)
  return lists.flat().some((rule) => onQuery(rule?.has) || onQuery(rule?.missing)) ? 'url' : 'path'
}

function isList(rules: unknown): rules is readonly Rule[] {
  return Array.isArray(rules)
}

function onQuery(conditions: readonly RuleCondition[] | undefined): boolean {
  return conditions?.some(({ type }) => type === 'query') === true
}
