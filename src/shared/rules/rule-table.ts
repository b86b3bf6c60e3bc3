import { LongTextError } from './long-text-error.ts'
import type { Captures } from './captures.ts'
import type { Conditions } from './conditions.ts'
import type { RulePath } from './rule-path.ts'
import type { RuleSubject } from './rule-request.ts'
import type { RuleSource } from './rule-source.ts'

/** Members of every compiled rule. */
export interface ConditionalRule {
  readonly source: RuleSource
  readonly conditions: Conditions
}

/** A rule that matches a request. */
export interface RuleHit<Rule> {
  readonly rule: Rule
  /** Its place in the table. */
  readonly index: number
  readonly captures: Captures
}

/** One list of rules. Rules with a static first segment are tried only for paths that begin with it. */
export interface RuleTable<Rule extends ConditionalRule> {
  /** In the order of the table. */
  readonly rules: readonly Rule[]
  /** Number of rules. */
  readonly size: number
  /**
   * Finds the first matching rule, in the order of the table.
   * @param from index at which to start.
   * @throws {LongTextError} for a text that is too long for a rule's expression.
   */
  readonly find: (subject: RuleSubject, from: number) => RuleHit<Rule> | undefined
  /** Whether a rule may match requests for this path, if its conditions hold. */
  readonly concerns: (path: RulePath) => boolean
}

interface Placed<Rule> {
  readonly rule: Rule
  readonly index: number
}

const NONE: readonly never[] = []

/** Indexes a list of rules by their first segments. */
export function createRuleTable<Rule extends ConditionalRule>(rules: readonly Rule[]): RuleTable<Rule> {
  const bySegment = new Map<string, Placed<Rule>[]>()
  const anywhere: Placed<Rule>[] = []
  for (const [index, rule] of rules.entries()) {
    const segment = rule.source.firstSegment
    const list = segment === undefined ? anywhere : (bySegment.get(segment) ?? [])
    list.push({ rule, index })
    if (segment !== undefined) bySegment.set(segment, list)
  }

  return {
    rules,
    size: rules.length,
    concerns: (path) => rules.some(({ source }) => source.match(path) !== undefined),
    find(subject, from) {
      const here = bySegment.get(subject.path.firstSegment) ?? NONE
      let inHere = firstFrom(here, from)
      let inAnywhere = firstFrom(anywhere, from)
      for (;;) {
        const left = here[inHere]
        const right = anywhere[inAnywhere]
        if (left === undefined && right === undefined) return undefined
        const isLeft = right === undefined || (left !== undefined && left.index < right.index)
        const candidate = isLeft ? left : right
        if (isLeft) inHere += 1
        else inAnywhere += 1
        const captures = candidate && capturesOf(candidate.rule, subject)
        if (candidate !== undefined && captures !== undefined) return { ...candidate, captures }
      }
    },
  }
}

function firstFrom(list: readonly Placed<unknown>[], from: number): number {
  if (from === 0) return 0
  const first = list.findIndex(({ index }) => index >= from)
  return first === -1 ? list.length : first
}

function capturesOf(rule: ConditionalRule, subject: RuleSubject): Captures | undefined {
  try {
    return joinedCaptures(rule, subject)
  } catch (thrown) {
    if (thrown instanceof LongTextError) thrown.source = rule.source.text
    throw thrown
  }
}

function joinedCaptures({ source, conditions }: ConditionalRule, subject: RuleSubject): Captures | undefined {
  const fromPath = source.match(subject.path)
  const fromRequest = fromPath && conditions.match(subject)
  if (fromPath === undefined || fromRequest === undefined) return undefined
  if (fromRequest.size === 0) return fromPath
  return fromPath.size === 0 ? fromRequest : new Map([...fromPath, ...fromRequest])
}
