import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { parseSearch } from '../../http/search-params.ts'
import type { GuardModule } from '../../api/loader-types.ts'
import type { RequestContext } from '../../request/context.ts'
import { measureLoader, type AskedPage, type LoaderCall } from './loader-call.ts'
import { SegmentFacts } from './segment-facts.ts'
import { ownParams, serverParts, type SegmentGuard } from './segment-loaders.ts'
import { untilAborted } from './until-aborted.ts'

/** A guard that has refused, redirected or failed, and what it has thrown. */
interface GuardRefusal {
  readonly guard: SegmentGuard
  readonly thrown: unknown
}

/** What the guards of a route have said. */
interface GuardVerdict {
  /** The first one that let nobody through; `undefined` if all let the request through. */
  readonly refusal: GuardRefusal | undefined
  /** What the verdict depends on. */
  readonly facts: SegmentFacts
}

/** Refusals so far, so that a guard that has refused is not asked again. */
const refusals = new WeakMap<RequestContext, GuardRefusal>()

/**
 * Asks the guards of a route, root first, each after the former has let the request through. A refusal counts for the
 * whole request; after an action they are asked again, because it may have signed the visitor in or out.
 * @param modules already contains the guards' modules.
 * @returns does not reject.
 */
export async function askGuards(
  { route, params, search, method }: Pick<AskedPage, 'route' | 'params' | 'search' | 'method'>,
  context: RequestContext,
  modules: ModuleCache,
): Promise<GuardVerdict> {
  const facts = new SegmentFacts()
  context.audience.guarded = true
  const known = refusals.get(context)
  if (known !== undefined) return { refusal: known, facts }
  const raw = { raw: parseSearch(search) }
  for (const guard of serverParts(route).guards) {
    const run = guardOf(guard, modules)
    const call: LoaderCall = { run, params: ownParams(guard, params), search: raw, facts, context, method }
    try {
      await untilAborted(measureLoader(call, guard.id), context)
    } catch (thrown) {
      const refusal = { guard, thrown }
      refusals.set(context, refusal)
      return { refusal, facts }
    } finally {
      context.audience.guardedByQuery ||= facts.readsQuery
    }
  }
  return { refusal: undefined, facts }
}

/** The function of a guard's module, with nothing of what it returns. Without a function it refuses everything. */
function guardOf({ id, module }: SegmentGuard, modules: ModuleCache): LoaderCall['run'] {
  const { guard, default: other } = modules.get(module) as GuardModule
  const run = guard ?? other
  return async (args) => {
    if (typeof run !== 'function') throw new TypeError(`${id}: the module exports no function guard`)
    const returned: unknown = await run(args as never)
    if (returned !== false && !(returned instanceof Response)) return
    throw new TypeError(
      `${id} returned ${returned === false ? 'false' : 'a Response'}, which refuses nothing: a guard throws redirect(), notFound(), forbidden() or unauthorized()`,
    )
  }
}
