import type { HeaderList } from '../../http/header-list.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../context.ts'
import { giveAfterWork } from '../running-work.ts'
import { createHeavyClient } from './heavy-client.ts'
import { NO_LOAD, reduceLoad, refusedShare, type LoadSample, type LoadState } from './load-shedding.ts'
import { createRenderTurns, type RenderTurns, type Turn, type TurnRequest, type TurnWaits } from './render-turns.ts'
import { classBelow, classOf, type RequestClass } from './request-class.ts'
import { createPlaceQueue, type PlaceQueue, type PlaceRefusal } from './place-queue.ts'
import type { ShedReason } from '../request-kind.ts'
import { createUnreadAnswers, type UnreadAnswers } from './unread-answers.ts'

/** A refusal: 503. */
export interface Shed {
  readonly reason: ShedReason
  /** `Retry-After`: 1 to 4 seconds, random, so that refused clients do not return together. */
  readonly headers: HeaderList
  /** Waits before the refusal is sent: whoever asks again at once would take the time of those that are let in. */
  delay(): Promise<void> | undefined
}

/**
 * Bounds how many documents and data answers are in progress and how late they may be, so that overload causes quick
 * refusals instead of slow answers.
 */
export interface Admission {
  /**
   * Takes a place until the answer is made and its loaders have settled (`running-work.ts`), and waits for one if all are taken: see `place-queue.ts`.
   * @returns `undefined` at once if there is a place; the refusal if there is none in time, noted in the context for log
   * and metrics.
   */
  enter(context: RequestContext): Shed | undefined | Promise<Shed | undefined>
  /**
   * Waits for a turn to run loaders and to render. Call it when a request arrives, and again after its loaders: while
   * they waited, others had their turns.
   * @param loaded whether the loaders are done.
   * @returns `undefined` at once if nobody else waits.
   */
  turn(context: RequestContext, loaded?: boolean): Promise<Shed | undefined> | undefined
  /**
   * Waits for a turn to run what is not refused any more: rules for a long head, a handler, or the page that shows what a
   * call has done.
   * @returns `undefined` at once if nobody else waits.
   */
  turnWhenDue(context: RequestContext): Promise<void> | undefined
  /** Reports how late the process is; the refusals of `enter` follow from it. */
  sample(sample: LoadSample): void
  /** Longest waits for turns since the last call. */
  waits(): TurnWaits
  /** As clients with several requests see it. */
  readonly load: LoadState
  /** Answers in progress. */
  readonly pending: number
  /**
   * Whether balancers should send visitors elsewhere: no place is left, or documents are refused for load. The latter
   * does not count if few clients have most of the answers in progress (`heavy-client.ts`): balancers would send these to
   * the next instance.
   */
  readonly isOverloaded: boolean
  /** Requests that wait for a place, or with a place for their turn. */
  readonly waiting: number
}

/** Options of admission. */
interface AdmissionOptions {
  /** Places, at least 1. */
  readonly limit: number
  readonly turns?: RenderTurns
  /** Default: that many, of this process. */
  readonly places?: PlaceQueue
  /** Default: those of this admission. */
  readonly unread?: UnreadAnswers
  /** 0 to 1. */
  readonly random?: () => number
  /** Called with a client that is refused while half of the requests that wait for a place are its own. */
  readonly onGreedy?: ((client: string) => void) | undefined
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** Calls back after some milliseconds. */
  readonly after?: (milliseconds: number, run: () => void) => void
}

const RETRY_SPREAD_SECONDS = 4

const REASONS: Readonly<Record<ShedReason, string>> = {
  places: 'too many answers in progress',
  client: 'too many answers in progress for one client',
  load: 'too much load',
  wait: 'waited too long for its turn',
}

const SHED_REASONS: Readonly<Record<PlaceRefusal, ShedReason>> = { full: 'places', client: 'client', late: 'wait' }

/** Of a document that is refused for load. */
const LEAST_DELAY_MS = 200
const DELAY_SPREAD_MS = 300
/** Above this number of delayed refusals, the others are sent at once. */
const MOST_DELAYED = 1_000

/** Admits everybody until there is no place, or `sample` reports lateness. */
export function createAdmission({
  limit,
  turns = createRenderTurns(),
  random = Math.random,
  onGreedy,
  places = createPlaceQueue({ limit, onGreedy }),
  unread = createUnreadAnswers(),
  now = () => performance.now(),
  after = (milliseconds, run) => void setTimeout(run, milliseconds),
}: AdmissionOptions): Admission {
  const prefetchLimit = Math.max(1, limit / 2)
  const delay = createDelay(random, after)
  const heavy = createHeavyClient(places, now)
  const all = createShedding()
  /** For clients whose waits are those of others: of many requests of a few clients, only these wait long. */
  const newcomers = createShedding()

  return {
    enter(context) {
      const client = clientKey(context.clientAddress.address)
      const requestClass = classOf(context)
      if (
        all.load.pressure > 0 &&
        !heavy.isAnothers(client) &&
        (heavy.isLight(client) ? newcomers : all).refuses(
          heavy.holdsMost(client) ? classBelow(requestClass) : requestClass,
        )
      ) {
        return shed(context, 'load', requestClass === 'document')
      }
      if (requestClass === 'prefetch' && places.taken >= prefetchLimit) return shed(context, 'places')
      const taken = places.take({ client, isGone: () => isGone(context) })
      return taken instanceof Promise
        ? taken.then((refusal) => entered(refusal, client, context))
        : entered(taken, client, context)
    },
    turn(context, loaded = false) {
      if (loaded && context.place.turn === turns.number) return undefined
      return takeTurn(context, { loaded })?.then((came) => (came === 'now' ? undefined : shed(context, 'wait')))
    },
    turnWhenDue(context) {
      if (context.place.turn === turns.number) return undefined
      return takeTurn(context, { isDue: true })?.then(() => undefined)
    },
    sample(sample) {
      all.sample(sample)
      newcomers.sample({ ...sample, latenessMs: sample.newcomerMs ?? sample.latenessMs })
    },
    waits: () => turns.waits(),
    get load() {
      return all.load
    },
    get pending() {
      return places.taken
    },
    get isOverloaded() {
      return places.isFull || (newcomers.load.overloaded && !heavy.isOfFew)
    },
    get waiting() {
      return places.waiting + turns.waiting
    },
  }

  /** @returns `undefined` if it came at once. */
  function takeTurn(context: RequestContext, kind: Pick<TurnRequest, 'loaded' | 'isDue'>): Promise<Turn> | undefined {
    const turn = turns.take({
      requestClass: classOf(context),
      ...linesOf(context, kind.loaded),
      isGone: () => isGone(context),
      ...kind,
    })
    if (turn instanceof Promise) {
      return turn.then((came) => {
        context.place.turn = turns.number
        return came
      })
    }
    context.place.turn = turns.number
    return undefined
  }

  function entered(refusal: PlaceRefusal | undefined, client: string, context: RequestContext): Shed | undefined {
    if (refusal !== undefined) return shed(context, SHED_REASONS[refusal], true)
    holdUntilMade(context, unread, () => places.give(client))
    return undefined
  }

  function shed(context: RequestContext, reason: ShedReason, isDelayed = false): Shed {
    context.record.shed = reason
    context.record.refused = REASONS[reason]
    const headers = ['Retry-After', String(1 + Math.floor(random() * RETRY_SPREAD_SECONDS))]
    return { reason, headers, delay: () => (isDelayed ? delay() : undefined) }
  }
}

/** Refuses classes by the load of its samples. */
function createShedding() {
  let load = NO_LOAD
  /** Refusals of a class are spread evenly: a debt grows by the refused share, and each refusal pays one. */
  const debts: Record<RequestClass, number> = { prefetch: 0, data: 0, document: 0 }
  return {
    get load(): LoadState {
      return load
    },
    sample(sample: LoadSample): void {
      load = reduceLoad(load, sample)
    },
    refuses(requestClass: RequestClass): boolean {
      const share = refusedShare(load, requestClass)
      if (share === 0) return false
      debts[requestClass] += share
      if (debts[requestClass] < 1) return false
      debts[requestClass] -= 1
      return true
    },
  }
}

/** Gives the place back when the answer is made, or over, and the application's work for it too. */
function holdUntilMade(context: RequestContext, unread: UnreadAnswers, give: () => void): void {
  let hasPlace = true
  let isNoted = false
  const leave = (bytes = 0): void => {
    if (hasPlace) giveAfterWork(context, give)
    hasPlace = false
    if (bytes > 0 || isNoted) unread.note(context, bytes)
    isNoted = bytes > 0
  }
  context.place.noteUnread = leave
  context.onFinish(leave)
}

/**
 * The lines in which a request waits for its turn. Others wait for a page for all, too, once it has begun: in the line of
 * whoever began it, that one's other requests would come first.
 */
function linesOf(
  { clientAddress, making }: RequestContext,
  loaded = false,
): Pick<TurnRequest, 'client' | 'followClients'> {
  return { client: clientKey(clientAddress.address), followClients: loaded ? making?.clients?.follow : undefined }
}

/** Whether nobody waits for the answer any more. */
function isGone({ aborted }: RequestContext): boolean {
  return aborted?.cause === 'gone'
}

/** Delays of refusals; `undefined` above their bound. */
function createDelay(
  random: () => number,
  after: NonNullable<AdmissionOptions['after']>,
): () => Promise<void> | undefined {
  let delayed = 0
  return () => {
    if (delayed >= MOST_DELAYED) return undefined
    delayed += 1
    return new Promise((resolve) => {
      after(LEAST_DELAY_MS + random() * DELAY_SPREAD_MS, () => {
        delayed -= 1
        resolve()
      })
    })
  }
}
