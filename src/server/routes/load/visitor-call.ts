import { isControlFlow } from '../../../shared/control-flow.ts'
import { decodeValues } from '../../../shared/protocol/decode-value-text.ts'
import { encodeValues } from '../../../shared/protocol/encode-values.ts'
import type { Variants } from '../../../shared/route-definition.ts'
import type { RawSearch } from '../../../shared/raw-search.ts'
import type { LoaderArgs, LoaderContext, ServerModule, VisitorArgs } from '../../api/loader-types.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import { variantsOf, type ChosenVariants } from '../../request/variants.ts'
import { VisitorAnswerError, VisitorContext } from '../../request/visitor-context.ts'
import { toWebRequest } from '../../request/web-request.ts'
import { freezeValues } from '../../values/freeze-values.ts'
import { ownGetters } from '../../values/own-getters.ts'
import { trackSearch } from '../../values/track-search.ts'
import { isPlainObject, type Deferrable } from './deferred.ts'
import { noteLateQuery, type SegmentFacts } from './segment-facts.ts'
import type { SegmentLoader } from './segment-loaders.ts'
import { watchPromises } from './watch-promises.ts'

/** A function `visitor` or `layoutVisitor`. */
export interface VisitorRun {
  readonly run: (args: VisitorArgs) => unknown
  /** Id of its segment. */
  readonly id: string
  readonly name: 'visitor' | 'layoutVisitor'
}

/** What a visitor's function gets of its segment. */
interface VisitorCall {
  readonly params: LoaderArgs['params']
  readonly search: { readonly parsed: unknown } | { readonly raw: RawSearch }
  readonly facts: SegmentFacts
  readonly context: RequestContext
  /** Of the page's entry. */
  readonly variants?: Variants | undefined
}

/** The function of a segment's module, if it has one. */
export function visitorOf({ id, isPage }: SegmentLoader, module: ServerModule): VisitorRun | undefined {
  const name = isPage ? 'visitor' : 'layoutVisitor'
  const run = module[name] as VisitorRun['run'] | undefined
  return run && { run, id, name }
}

/** Creates expensive members on first use, as the arguments of a loader. */
class Arguments implements VisitorArgs {
  readonly params: VisitorArgs['params']
  readonly data: undefined
  readonly context: LoaderContext
  readonly #call: VisitorCall

  constructor(call: VisitorCall, data: unknown, by: string) {
    this.params = call.params as VisitorArgs['params']
    this.data = data as undefined
    this.context = new VisitorContext(call.context, by)
    this.#call = call
    ownArguments(this)
  }

  get search(): VisitorArgs['search'] {
    const { search, facts, context } = this.#call
    if ('parsed' in search) return search.parsed as VisitorArgs['search']
    // What it reads later is noted too late, except in a shared render, which waits.
    if (context.making === undefined) {
      noteLateQuery('search', facts, context)
      facts.useAll()
    }
    return trackSearch(search.raw, facts)
  }

  get request(): Request {
    const { context } = this.#call
    const { making } = context
    making?.reads.note('request')
    return making === undefined ? context.request : toWebRequest(context)
  }

  get signal(): AbortSignal {
    return this.#call.context.signal
  }

  get variants(): ChosenVariants['values'] {
    return variantsOf(this.#call.variants, this.#call.context).values
  }
}

const ownArguments = ownGetters(Arguments.prototype, ['search', 'request', 'signal', 'variants'])

/**
 * Runs the function. Its failure is reported once, and never an unhandled rejection.
 * @param data what the loader has returned.
 */
export function callVisitor(call: VisitorCall, visitor: VisitorRun, data: unknown): Promise<unknown> {
  const { context } = call
  const by = `${visitor.name} of ${visitor.id}`
  const run = async (): Promise<unknown> => {
    using _ = context.work.begin()
    if (context.aborted !== undefined) throw context.aborted
    const given = context.making === undefined ? data : await frozenCopy(data, context.signal)
    return watchPromises(await visitor.run(new Arguments(call, given, by)), context, 'deferred')
  }
  const bounded = new Promise((resolve, reject) => {
    context.onAbort(reject)
    run().then(resolve, (thrown: unknown) => reject(failureOf(thrown, by)))
  })
  bounded.catch((reason: unknown) => reportFailure(reason, context, 'deferred', visitor.id))
  return bounded
}

/** In the making of a document, what the loader has returned is everybody's. */
async function frozenCopy(data: unknown, signal: AbortSignal): Promise<unknown> {
  const copy = await decodeValues<unknown>(encodeValues(data, signal))
  for (const promise of freezeValues(copy)) promise.catch(() => undefined)
  return copy
}

function failureOf(met: unknown, by: string): unknown {
  const thrown = normalizeThrown(met)
  return isControlFlow(thrown) ? new VisitorAnswerError(by, `has redirected or refused`, { cause: thrown }) : thrown
}

/** The result of a loader with the promise of what belongs to the visitor. */
export function withVisitor(call: VisitorCall, visitor: VisitorRun, { value }: Deferrable): Deferrable {
  if (value !== undefined && (typeof value !== 'object' || value === null || !isPlainObject(value))) {
    throw new TypeError(
      `The loader of ${visitor.id} has ${visitor.name} beside it, whose promise becomes the member visitor of its data: ` +
        'return a plain object from the loader',
    )
  }
  if (value !== undefined && 'visitor' in value) {
    throw new TypeError(
      `The loader of ${visitor.id} returns a member visitor, which is the name of what ${visitor.name} gives: rename it`,
    )
  }
  const promise = callVisitor(call, visitor, value)
  call.context.making?.slots.set(visitor.id, promise)
  return { value: { ...value, visitor: promise }, deferred: true }
}
