import type { Route } from '../../../shared/route-table.ts'
import { addVary } from '../../request/answer/answer-headers.ts'
import type { RequestContext } from '../../request/context.ts'
import { clientKey } from '../../http/client-key.ts'
import { variantsOf } from '../../request/variants.ts'

/** Of one route, all its variants together: what a visitor sends must not become an endless number of documents. */
const MOST_RESULTS = 32
/** After so long without a request, a result makes room: what visitors have sent must not keep the page from others permanently. */
const FORGET_MS = 600_000

/** Who has asked for a result last, as `clientKey` names it, and when, in ms since the epoch. */
interface Asked {
  readonly client: string
  readonly at: number
}

/**
 * The variants of kept pages. Bound: 32 for each route, the least recently asked for go first. If there is no room, a client
 * with more than a quarter of them makes room for others at once.
 */
export class VariantChoices {
  /** By result, the least recently asked for first. */
  readonly #results = new Map<Route, Map<string, Asked>>()

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
    const results = this.#results.get(route) ?? new Map<string, Asked>()
    this.#results.set(route, results)
    const asked = { client: clientKey(context.clientAddress.address), at: context.services.now() }
    if (isTaken(results, JSON.stringify(values), asked)) return undefined
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
function isTaken(results: Map<string, Asked>, result: string, asked: Asked): boolean {
  if (!results.delete(result) && results.size === MOST_RESULTS) {
    const next = nextToGo(results, asked)
    if (next === undefined) return false
    results.delete(next)
  }
  results.set(result, asked)
  return true
}

/** The result that makes room, if there is one. */
function nextToGo(results: ReadonlyMap<string, Asked>, { client, at: now }: Asked): string | undefined {
  const [[oldest, { at }] = ['', { at: now }]] = results
  if (now - at >= FORGET_MS) return oldest
  const byClient = Map.groupBy(results, ([, asked]) => asked.client)
  for (const [owner, [first, ...rest]] of byClient) {
    if (owner !== client && (rest.length + 1) * 4 > MOST_RESULTS) return first?.[0]
  }
  return undefined
}
