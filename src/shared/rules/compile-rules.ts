import type { Destination } from './destination.ts'
import type { LoadEngine } from './expression-engine.ts'
import type { Refuse, RuleKind, RuleSite } from './rule-error.ts'
import type { RuleFields } from './rule-shape.ts'
import type { ConditionalRule, RuleTable } from './rule-table.ts'
import type { RuleSet } from './rule-types.ts'
import type { TextTemplate } from './text-template.ts'
import { compileConditions } from './conditions.ts'
import { compileDestination } from './destination.ts'
import { RuleError } from './rule-error.ts'
import { checkDestination, checkFields, checkHeaders, checkSource, checkStatus } from './rule-shape.ts'
import { compileSource } from './rule-source.ts'
import { createRuleTable } from './rule-table.ts'
import { compileTemplate } from './text-template.ts'

/** A compiled redirect. */
interface CompiledRedirect extends ConditionalRule {
  readonly status: number
  readonly destination: Destination
}

/** A compiled rewrite. */
export interface CompiledRewrite extends ConditionalRule {
  /** Whether pages of other sites may open WebSockets through it. */
  readonly crossSite: boolean
  /** Whether the other server may get encoded slashes. */
  readonly encodedSlashes: boolean
  readonly destination: Destination
}

/** A compiled header rule. */
interface CompiledHeaders extends ConditionalRule {
  readonly headers: readonly { readonly key: TextTemplate; readonly value: TextTemplate }[]
}

/** All rules of an application, validated and compiled. */
export interface CompiledRules {
  readonly redirects: RuleTable<CompiledRedirect>
  readonly headers: RuleTable<CompiledHeaders>
  readonly beforeFiles: RuleTable<CompiledRewrite>
  readonly afterFiles: RuleTable<CompiledRewrite>
  readonly fallback: RuleTable<CompiledRewrite>
}

const LISTS = ['redirects', 'rewrites', 'headers']
const PHASES = ['beforeFiles', 'afterFiles', 'fallback']

/**
 * Validates and compiles the rules of an application, in the build and at the start of the server.
 * @param loadEngine not called for rules without an expression.
 * @throws {RuleError} for the first fault.
 */
export function compileRules(rules: RuleSet | undefined, loadEngine: LoadEngine): CompiledRules {
  const site = { for: 'redirect', list: 'rules', index: -1 } as const
  if (rules !== undefined && !isObject(rules)) {
    const wayOut = 'Write { redirects, rewrites, headers }, not a function'
    throw new RuleError('rules-not-array', site, 'these are not lists by name', wayOut)
  }
  const lists: RuleFields = { ...rules }
  refuseUnknown(lists, LISTS, site)
  const { rewrites } = lists
  const phases: RuleFields = isObject(rewrites) ? rewrites : { afterFiles: rewrites }
  refuseUnknown(phases, PHASES, { for: 'rewrite', list: 'rewrites', index: -1 })
  const rewriteList = isObject(rewrites) ? (phase: string) => `rewrites.${phase}` : () => 'rewrites'

  const list = <Rule extends ConditionalRule>(items: unknown, kind: RuleKind, name: string, compile: Compile<Rule>) =>
    compileList(items, kind, name, (fields, refuse) => compile(fields, refuse, loadEngine))
  return {
    redirects: list(lists['redirects'], 'redirect', 'redirects', compileRedirect),
    headers: list(lists['headers'], 'header', 'headers', compileHeaders),
    beforeFiles: list(phases['beforeFiles'], 'rewrite', rewriteList('beforeFiles'), compileRewrite),
    afterFiles: list(phases['afterFiles'], 'rewrite', rewriteList('afterFiles'), compileRewrite),
    fallback: list(phases['fallback'], 'rewrite', rewriteList('fallback'), compileRewrite),
  }
}

type Compile<Rule> = (fields: RuleFields, refuse: Refuse, loadEngine: LoadEngine) => Rule

function compileList<Rule extends ConditionalRule>(
  list: unknown,
  kind: RuleKind,
  name: string,
  compile: (fields: RuleFields, refuse: Refuse) => Rule,
): RuleTable<Rule> {
  if (list === undefined) return createRuleTable<Rule>([])
  if (!Array.isArray(list)) {
    const site = { for: kind, list: name, index: -1 }
    throw new RuleError(
      'rules-not-array',
      site,
      'this is not a list',
      'Write a list of rules, not a function that returns one',
    )
  }
  const compiled = list.map((rule: unknown, index) => {
    const source: unknown = isObject(rule) ? rule['source'] : undefined
    const refuse: Refuse = (fault, broken, wayOut) => {
      throw new RuleError(fault, { for: kind, list: name, index, source }, broken, wayOut)
    }
    checkFields(rule, kind, refuse)
    return compile(rule, refuse)
  })
  return createRuleTable(compiled)
}

function compileRedirect(fields: RuleFields, refuse: Refuse, loadEngine: LoadEngine): CompiledRedirect {
  const source = checkSource(fields['source'], refuse)
  const destination = checkDestination(fields['destination'], refuse)
  const status = checkStatus(fields, refuse)
  const rule = compileConditional(source, fields, refuse, loadEngine)
  return { ...rule, status, destination: compileTarget(destination, rule, refuse) }
}

function compileRewrite(fields: RuleFields, refuse: Refuse, loadEngine: LoadEngine): CompiledRewrite {
  const source = checkSource(fields['source'], refuse)
  const destination = checkDestination(fields['destination'], refuse)
  const rule = compileConditional(source, fields, refuse, loadEngine)
  const target = compileTarget(destination, rule, refuse)
  for (const field of ['websocket', 'encodedSlashes']) {
    if (fields[field] === undefined || target.host !== undefined) continue
    refuse('unknown-field', `${field} is set for a destination on this site`, 'Leave it out: it is for other servers')
  }
  const encodedSlashes = fields['encodedSlashes'] !== undefined
  return { ...rule, crossSite: fields['websocket'] !== undefined, encodedSlashes, destination: target }
}

function compileHeaders(fields: RuleFields, refuse: Refuse, loadEngine: LoadEngine): CompiledHeaders {
  const source = checkSource(fields['source'], refuse)
  const headers = checkHeaders(fields['headers'], refuse)
  const rule = compileConditional(source, fields, refuse, loadEngine)
  const names = namesOf(rule)
  // As in Next.js: an unnecessary backslash stays. Header values are not URLs.
  const compile = (text: string): TextTemplate => compileTemplate(text, names, (name) => names.has(name))
  return {
    ...rule,
    headers: headers.map(({ key, value }) => ({ key: compile(key), value: compile(value) })),
  }
}

function compileConditional(
  source: string,
  { has, missing }: RuleFields,
  refuse: Refuse,
  loadEngine: LoadEngine,
): ConditionalRule {
  return {
    source: compileSource(source, refuse, loadEngine),
    conditions: compileConditions(has, missing, refuse, loadEngine),
  }
}

function compileTarget(destination: string, rule: ConditionalRule, refuse: Refuse): Destination {
  const names = namesOf(rule)
  const afterHost = destination.replace(/^https?:\/\/[^/]*/i, '')
  for (let group = 0; group < rule.source.unnamed; group += 1) {
    if (names.has(String(group)) || !new RegExp(`:${group}(?!\\w)`).test(afterHost)) continue
    refuse(
      'destination-unnamed-params',
      `destination uses :${group}, and groups without a name are not captured`,
      'Name the group in the source, such as ":rest(.*)"',
    )
  }
  return compileDestination(destination, names, refuse)
}

function namesOf({ source, conditions }: ConditionalRule): ReadonlySet<string> {
  return new Set([...source.names, ...conditions.names])
}

function refuseUnknown(fields: RuleFields, known: readonly string[], site: RuleSite): void {
  const unknown = Object.keys(fields).find((field) => !known.includes(field))
  if (unknown === undefined) return
  throw new RuleError('unknown-field', site, `there is no "${unknown}"`, `Known are ${known.join(', ')}`)
}

function isObject(value: unknown): value is RuleFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
