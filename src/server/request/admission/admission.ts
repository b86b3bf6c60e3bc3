import type { HeaderList } from '../../http/header-list.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../context.ts'
import { NO_LOAD, reduceLoad, refusedShare, type LoadSample, type LoadState } from './load-shedding.ts'
import { createRenderTurns, type RenderTurns } from './render-turns.ts'
import { classBelow, classOf, type RequestClass } from './request-class.ts'
import { createShares, type ShareRefusal } from '../../http/shares.ts'
import type { ShedReason } from '../request-kind.ts'

/** A refusal; to be answered with 503. */
export interface Shed {
  readonly reason: ShedReason
  /** `Retry-After`: 1 to 4 seconds, so that those who were refused together do not come back together. */
  readonly headers: HeaderList
}

/**
 * Bounds how many documents and data answers are being made at once and how late they may be, so that overload ends in
 * quick refusals and not in slow answers.
 */
export interface Admission {
  /**
   * Takes a place for as long as the answer is in progress.
   * @returns why there is none, noted in the context for log and metrics.
   */
  enter(context: RequestContext): Shed | undefined
  /**
   * Waits for the turn to run loaders and to render. To be asked when a request comes, and again when its loaders are
   * done: where those have waited for something, others have had their turn meanwhile.
   * @param loaded whether the loaders are done.
   * @returns `undefined` at once where nobody else waits.
   */
  turn(context: RequestContext, loaded?: boolean): Promise<Shed | undefined> | undefined
  /** Tells how late the process is; what `enter` refuses follows from it. */
  sample(sample: LoadSample): void
  /** Milliseconds that somebody has waited for a turn at most, since it was last asked. */
  longestWaitMs(): number
  readonly load: LoadState
  /** Answers in progress. */
  readonly pending: number
  /**
   * Whether balancers should send visitors elsewhere: there is no place left, or documents are refused for load. The
   * latter does not count where more than half of what is in progress is one client's: balancers would send that client
   * to the next instance.
   */
  readonly isOverloaded: boolean
  /** Of those, how many wait for their turn. */
  readonly waiting: number
}

/** What admission is made of. */
export interface AdmissionOptions {
  /** Places, at least 1. */
  readonly limit: number
  readonly turns?: RenderTurns
  /** 0 to 1. */
  readonly random?: () => number
  /** Told of a client that is refused while it holds half of the places. */
  readonly onGreedy?: ((client: string) => void) | undefined
}

/** So many answers in progress are few, whoever has asked for them. */
const FEW = 8

const RETRY_SPREAD_SECONDS = 4

const REASONS: Readonly<Record<ShedReason, string>> = {
  places: 'too many answers in progress',
  client: 'too many answers in progress for one client',
  load: 'too much load',
  wait: 'waited too long for its turn',
}

const SHED_REASONS: Readonly<Record<ShareRefusal, ShedReason>> = { full: 'places', client: 'client' }

/** Everybody is let in until there is no place, or `sample` tells of lateness. */
export function createAdmission({
  limit,
  turns = createRenderTurns(),
  random = Math.random,
  onGreedy,
}: AdmissionOptions): Admission {
  const prefetchLimit = Math.max(1, limit / 2)
  /** What is refused of a class by its share is spread evenly: a debt grows by the share and is paid by a refusal. */
  const debts: Record<RequestClass, number> = { prefetch: 0, data: 0, document: 0 }
  const places = createShares({ most: () => limit, onGreedy })
  let load = NO_LOAD

  return {
    enter(context) {
      const client = clientKey(context.clientAddress.address)
      const requestClass = classOf(context)
      if (load.pressure > 0 && isRefused(holdsMost(client) ? classBelow(requestClass) : requestClass)) {
        return shed(context, 'load')
      }
      if (requestClass === 'prefetch' && places.taken >= prefetchLimit) return shed(context, 'places')
      const refusal = places.take(client)
      if (refusal !== undefined) return shed(context, SHED_REASONS[refusal])
      context.onFinish(() => places.give(client))
      return undefined
    },
    turn(context, loaded = false) {
      if (loaded && context.turn === turns.number) return undefined
      const turn = turns.take({
        requestClass: classOf(context),
        client: clientKey(context.clientAddress.address),
        loaded,
        isGone: () => context.aborted?.cause === 'gone',
      })
      if (!(turn instanceof Promise)) {
        context.turn = turns.number
        return undefined
      }
      return turn.then((came) => {
        context.turn = turns.number
        return came === 'now' ? undefined : shed(context, 'wait')
      })
    },
    sample(sample) {
      load = reduceLoad(load, sample)
    },
    longestWaitMs: () => turns.longestWaitMs(),
    get load() {
      return load
    },
    get pending() {
      return places.taken
    },
    get isOverloaded() {
      return places.taken >= limit || (load.overloaded && !places.isOneClients)
    },
    get waiting() {
      return turns.waiting
    },
  }

  /**
   * The work of one client is refused before that of the others, so that its load costs itself first. Where there are no
   * others, nobody gains by that: all visitors may have the address of one proxy.
   */
  function holdsMost(client: string): boolean {
    const own = places.of(client)
    return places.taken >= FEW && own * 2 > places.taken && own < places.taken
  }

  function isRefused(requestClass: RequestClass): boolean {
    const share = refusedShare(load, requestClass)
    if (share === 0) return false
    debts[requestClass] += share
    if (debts[requestClass] < 1) return false
    debts[requestClass] -= 1
    return true
  }

  function shed(context: RequestContext, reason: ShedReason): Shed {
    context.shed = reason
    context.refusal = REASONS[reason]
    return { reason, headers: ['Retry-After', String(1 + Math.floor(random() * RETRY_SPREAD_SECONDS))] }
  }
}
