import type { QueryPair } from './query-pairs.ts'
import type { RulePath } from './rule-path.ts'
import { parseQuery } from './query-pairs.ts'
import { readRulePath } from './rule-path.ts'

/** The facts about a request that rules need. */
export interface RuleRequest {
  /** Normalised and still percent-encoded. */
  readonly pathname: string
  /** Raw: `''`, or the query after its `?`. */
  readonly search: string
  /** The requested host, with its port if given. */
  readonly host: string
  /** @param name in lower case. */
  readonly header: (name: string) => string | undefined
  /** Decoded; without a prototype. Called only if a rule needs a cookie. */
  readonly cookies: () => Readonly<Record<string, string>>
}

/** A request between two rules: path and query as changed by the previous rules. */
export interface RuleSubject {
  readonly request: RuleRequest
  readonly path: RulePath
  /** Parsed on first use. */
  readonly query: () => readonly QueryPair[]
}

/** A request that no rule has changed yet. */
export function subjectOf(request: RuleRequest): RuleSubject {
  let query: readonly QueryPair[] | undefined
  return { request, path: readRulePath(request.pathname), query: () => (query ??= parseQuery(request.search)) }
}

/** The same request after a rewrite. */
export function rewrittenSubject(request: RuleRequest, pathname: string, query: readonly QueryPair[]): RuleSubject {
  return { request, path: readRulePath(pathname), query: () => query }
}
