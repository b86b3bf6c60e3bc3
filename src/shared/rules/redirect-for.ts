import type { CompiledRules } from './compile-rules.ts'
import type { FaultyDestination } from './destination-fault.ts'
import type { RuleRequest, RuleSubject } from './rule-request.ts'
import { isRuntimePath } from '../runtime-paths.ts'
import { safeLocation } from '../safe-location.ts'
import { fillDestination } from './destination.ts'
import { faultyDestination } from './destination-fault.ts'
import { formatQuery } from './query-pairs.ts'
import { subjectOf } from './rule-request.ts'

/** A redirect to send. */
export interface RuleRedirect {
  /** 301, 302, 303, 307 or 308. */
  readonly status: number
  /** ASCII, checked by the Location guard. */
  readonly location: string
  readonly fault?: undefined
}

/**
 * The redirect of the first rule that matches a request. The runtime's own URLs are never redirected.
 * @param subject of the request, if it exists already.
 * @returns `undefined` if no rule applies.
 */
export function redirectFor(
  rules: CompiledRules,
  request: RuleRequest,
  subject: RuleSubject = subjectOf(request),
): RuleRedirect | FaultyDestination | undefined {
  if (rules.redirects.size === 0) return undefined
  const hit = rules.redirects.find(subject, 0)
  if (hit === undefined || isRuntimePath(request.pathname)) return undefined

  const { destination, source, status } = hit.rule
  const filled = fillDestination(destination, hit.captures, subject.query(), false)
  if (filled.fault !== undefined) return faultyDestination(filled.fault, source.text)
  const { origin, pathname, query, hash } = filled
  const location = safeLocation(`${origin}${pathname}${formatQuery(query)}${hash}`, { external: origin !== '' })
  return location === undefined ? faultyDestination('unsafe-location', source.text) : { status, location }
}
