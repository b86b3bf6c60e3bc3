import { readFileSync } from 'node:fs'
import type { Captures } from '../../../src/shared/rules/captures.ts'
import type { RuleFault, RuleKind } from '../../../src/shared/rules/rule-error.ts'
import type { RuleRequest } from '../../../src/shared/rules/rule-request.ts'
import type { RuleCondition, RuleSet } from '../../../src/shared/rules/rule-types.ts'
import { RuleError } from '../../../src/shared/rules/rule-error.ts'

interface Case {
  readonly id: string
  readonly note?: string
}

type Values = Readonly<Record<string, string | readonly string[]>>

/** The sections of the routing vectors that judge rules. */
interface RuleVectors {
  readonly ruleSources: readonly (Case & { source: string; path: string; captured: Values | null; for?: RuleKind })[]
  readonly destinations: readonly (Case & {
    kind: 'redirect' | 'rewrite'
    destination: string
    params: Values
    query: Values
    result: { error: string } | { pathname?: string; url?: string; query: Values; hash?: string; error?: undefined }
  })[]
  readonly hasMissing: readonly (Case & {
    request: {
      headers: Readonly<Record<string, string>>
      cookies: Readonly<Record<string, string>>
      query: Values
      host: string
    }
    has?: readonly RuleCondition[]
    missing?: readonly RuleCondition[]
    captured: Values | null
  })[]
  readonly endToEndRules: readonly (Case & {
    routes?: readonly string[]
    rules: RuleSet
    request: { target: string; headers?: Readonly<Record<string, string>> }
    expect: { status: number; location?: string; renders?: { pattern: string; params: Values; query: Values } }
  })[]
  readonly invalidRules: readonly (Case & { for: RuleKind; rule: unknown; kind: RuleFault })[]
  readonly originMatching: readonly (Case & { origin: string; allowed: readonly string[]; ok: boolean })[]
}

/** Read with `JSON.parse`, because an imported `"__proto__"` would set the prototype instead of a key. */
export const vectors = JSON.parse(
  readFileSync(new URL('../../vectors/routing.json', import.meta.url), 'utf8'),
) as RuleVectors

/** Each case with a title, for `it.each`. */
export function titled<Each extends Case>(cases: readonly Each[]): readonly (readonly [string, Each])[] {
  return cases.map((each) => [each.note === undefined ? each.id : `${each.id}: ${each.note}`, each] as const)
}

/** A request for rules, from what a client sends. */
export function ruleRequest(target: string, headers: Readonly<Record<string, string>> = {}): RuleRequest {
  const [pathname = '/', ...search] = target.split('?')
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    pathname,
    search: search.length === 0 ? '' : `?${search.join('?')}`,
    host: lower.get('host') ?? 'localhost:3000',
    header: (name) => lower.get(name),
    cookies: () => Object.fromEntries((lower.get('cookie') ?? '').split('; ').map((pair) => pair.split('=', 2))),
  }
}

/** A query by key, repeated keys as lists. */
export function valuesOf(pairs: Iterable<readonly [string, string]>): Values {
  const values: Record<string, string | readonly string[]> = Object.create(null)
  for (const [key, value] of pairs) {
    const before = values[key]
    values[key] = before === undefined ? value : [...(typeof before === 'string' ? [before] : before), value]
  }
  return { ...values }
}

/** Captured text by name. */
export function capturedValues(captures: Captures | undefined): Values | null {
  return captures === undefined
    ? null
    : Object.fromEntries(Array.from(captures, ([name, { value }]) => [name, value] as const))
}

/** The fault that `compile` ends with. */
export function ruleErrorOf(compile: () => unknown): RuleError | undefined {
  try {
    compile()
  } catch (error) {
    if (error instanceof RuleError) return error
    throw error
  }
  return undefined
}

/** Refuses by throwing the fault's name. */
export function refuse(kind: RuleFault): never {
  throw new Error(kind)
}
