import type { Route } from '../../../shared/route-table.ts'
import { addVary } from '../../request/answer/answer-headers.ts'
import type { RequestContext } from '../../request/context.ts'
import { variantsOf } from '../../request/variants.ts'

/** Of one route, all its variants together: what a visitor sends must not become an endless number of documents. */
const MOST_RESULTS = 32

/** The variants of kept pages so far. Bound: 32 for each route. */
export class VariantChoices {
  readonly #results = new Map<Route, Set<string>>()

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
    const results = this.#results.get(route) ?? new Set()
    this.#results.set(route, results)
    const result = JSON.stringify(values)
    if (results.size < MOST_RESULTS) results.add(result)
    if (results.has(result)) return undefined
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
