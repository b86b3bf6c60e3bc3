import type { CacheOptions, LoaderArgs, LoaderContext } from '../../api/loader-types.ts'
import type { Variants } from '../../../shared/route-definition.ts'
import type { RequestContext } from '../../request/context.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import { toWebRequest } from '../../request/web-request.ts'
import { variantsOf, type ChosenVariants } from '../../request/variants.ts'
import { LateChangeError } from '../../request/late-changes.ts'
import { ownGetters } from '../../values/own-getters.ts'
import { watchSessions } from '../../secrets/session-reads.ts'
import type { RawSearch } from '../../../shared/raw-search.ts'
import { deferMembers, type Deferrable } from './deferred.ts'
import { noteLateQuery, type SegmentFacts } from './segment-facts.ts'
import { holdsPromise, settlePromises } from '../../values/find-promises.ts'
import { withVisitor, type VisitorRun } from './visitor-call.ts'
import { holdsSearch, trackSearch } from '../../values/track-search.ts'

/** A page whose guards and loaders are called. */
export interface AskedPage extends MatchedRoute {
  /** Of a call that has not run yet: what asks about it sees its method. Default: that of the page. */
  readonly method?: string | undefined
}

/** Parts of one call of a loader. */
export interface LoaderCall {
  readonly run: (args: LoaderArgs<never, unknown>) => unknown
  readonly params: LoaderArgs['params']
  /** The params as the module's own schema makes them, if it has one. */
  readonly checked?: Promise<unknown> | undefined
  /**
   * The search params as parsed by the module's schema; without a schema they are passed raw, and their use is tracked.
   */
  readonly search: { readonly parsed: unknown } | { readonly raw: RawSearch }
  /** Records what the data depends on. */
  readonly facts: SegmentFacts
  readonly context: RequestContext
  /** What belongs to the visitor, if the module has that. */
  readonly visitor?: VisitorRun | undefined
  /** As for `AskedPage`. */
  readonly method?: string | undefined
  /** Of the page's entry. */
  readonly variants?: Variants | undefined
}

const LATE_CACHE =
  'cache() was called after its loader had returned, so the browser keeps the data without it. Call it before the loader returns'

function keepFacts({ facts, context }: LoaderCall, options: CacheOptions): void {
  facts.keep(options)
  if (facts.isSettled) context.noteLateChange(new LateChangeError(LATE_CACHE))
}

/** Creates expensive members (request, signal, tracked search params) on first use. */
class Arguments implements LoaderArgs<never, unknown> {
  readonly params: LoaderArgs['params']
  readonly context: LoaderContext
  readonly cache: (options: CacheOptions) => void
  readonly #call: LoaderCall
  #watched: RawSearch | undefined = undefined

  constructor(call: LoaderCall, params: LoaderArgs['params']) {
    this.params = params
    this.context = call.context.loaderContext
    this.cache = keepFacts.bind(undefined, call)
    this.#call = call
    ownArguments(this)
  }

  static watched(args: Arguments): RawSearch | undefined {
    return args.#watched
  }

  get search(): unknown {
    const { search, facts, context } = this.#call
    if ('parsed' in search) return search.parsed
    if (this.#watched === undefined) noteLateQuery('search', facts, context)
    return (this.#watched ??= trackSearch(search.raw, facts))
  }

  get request(): Request {
    const { facts, context, method } = this.#call
    noteLateQuery('request', facts, context)
    // Its URL contains the whole query.
    facts.useAll()
    const { request } = context
    return method === undefined || method === request.method ? request : toWebRequest(context, method)
  }

  get signal(): AbortSignal {
    return this.#call.context.signal
  }

  get variants(): ChosenVariants['values'] {
    return variantsOf(this.#call.variants, this.#call.context).values
  }
}

const ownArguments = ownGetters(Arguments.prototype, ['search', 'request', 'signal', 'variants'])

/** Calls a loader and prepares its result. */
export async function callLoader(call: LoaderCall): Promise<Deferrable> {
  const { run, checked, facts, context, visitor } = call
  const params = checked === undefined ? call.params : await checked
  const args = new Arguments(call, params as LoaderArgs['params'])
  const begin = (): unknown => run(args)
  const returned = context.services.dataLifetime.session === undefined ? begin() : watchSessions(facts, begin)
  const shared = deferMembers(await returned, context)
  // Values in the order in which they have become ready would make another file each time.
  if (context.services.site?.forFiles === true) await settlePromises(shared.value)
  const result = visitor === undefined ? shared : withVisitor({ ...call, params: args.params }, visitor, shared)
  facts.settle(result.deferred)
  const watched = Arguments.watched(args)
  // Reads inside a pending promise, or of the search object itself in the result, cannot be tracked: assume all params.
  const isRead = (): boolean =>
    result.deferred || holdsPromise(result.value) || holdsSearch(result.value, watched ?? {})
  if (watched !== undefined && isRead()) facts.useAll()
  return result
}

/** Calls a loader, and measures it. None begins for a client that has left: nothing would count it. */
export function measureLoader(call: LoaderCall, segment: string): Promise<Deferrable> {
  const { aborted } = call.context
  if (aborted !== undefined) return Promise.reject(aborted)
  return call.context.record.measure({ kind: 'loader', name: segment }, () => callLoader(call))
}
