import type { Route } from '../../../shared/route-table.ts'
import { addVary } from '../../request/answer/answer-headers.ts'
import type { RequestContext } from '../../request/context.ts'
import { variantsOf } from '../../request/variants.ts'

/** Of one route, all its variants together: what a visitor sends must not become an endless number of documents. */
const MOST_RESULTS = 32
/** After so long without a request, a result makes room: what one visitor has sent must not keep the page from others permanently. */
const FORGET_MS = 600_000

/** The variants of kept pages. Bound: 32 for each route, the least recently asked for go first. */
export class VariantChoices {
  /** By result: when it was asked for, in ms since the epoch. */
  readonly #results = new Map<Route, Map<string, number>>()

  /**
   * Chooses the variant for a request, and keeps its answer from caches in front: many of them ignore `Vary`, and would send
   * one variant to all.
   * @returns why the request cannot get a kept page.
   */
  choose(route: Route, context: RequestContext): string | undefined {
    const of = route.definition.variants
    if (of === undefined) return undefined
    const { values, vary, fault } = variantsOf(of, context)
    context.audience.ofVariant = true
    if (vary.length > 0) addVary(context.res, vary.join(', '))
    if (fault !== undefined) {
      const reason = `variant ${fault.name} failed`
      this.#tell(route, reason, context, fault.thrown)
      return reason
    }
    const results = this.#results.get(route) ?? new Map<string, number>()
    this.#results.set(route, results)
    if (isTaken(results, JSON.stringify(values), context.services.now())) return undefined
    const reason = `more than ${MOST_RESULTS} variants`
    this.#tell(route, reason, context)
    return reason
  }

  #tell({ pattern }: Route, reason: string, { services }: RequestContext, err?: unknown): void {
    services.warnOnce(
      `variants ${pattern} ${reason}`,
      { route: pattern, reason, kept: false, ...(err !== undefined && { err }) },
      'the variants of this page do not fit its cache, so each visitor gets an answer of its own. A variant is one of a few texts, and never what a visitor has sent',
    )
  }
}

/** @returns whether the result is one of the few. */
function isTaken(results: Map<string, number>, result: string, now: number): boolean {
  if (!results.delete(result) && results.size === MOST_RESULTS) {
    const [[oldest, at] = ['', now]] = results
    if (now - at < FORGET_MS) return false
    results.delete(oldest)
  }
  results.set(result, now)
  return true
}
