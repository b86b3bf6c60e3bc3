import type { FailedAction, InvalidInput } from '../../../shared/action-result.ts'
import { PAGE_SESSIONS_HEADER } from '../../../shared/protocol/action-call.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import { pageUsers } from '../../request/noted-sessions.ts'
import { giveAfterWork } from '../../request/running-work.ts'
import type { MeasuredPart } from '../../request/request-record.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import type { Stopped } from '../decide/stopped.ts'
import { BodyError } from '../../http/body/body-error.ts'
import { MAX_STREAMED_FIELD_BYTES } from '../../http/body/body-limits.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { judgeThrown, type JudgedRedirect } from '../../request/answer/judge-thrown.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { idempotencyKey } from './idempotency-key.ts'
import type { ReceivedCall } from './read-call.ts'
import { judgeCall, receiveCall, type ActionParts, type ArrivedCall, type JudgedCall } from './receive-call.ts'
import type { StoppedCall, UnperformedCall } from './receive-call.ts'
import { runAction, type ActionOutcome, type FinishedCall } from './run-action.ts'
import { showTooLarge } from './too-large.ts'

/** Result of a call. Documents and data only write it. */
type CallResult = UnperformedCall | FinishedResult

/** Result of a call whose input has been read. */
export interface FinishedResult {
  readonly kind: 'finished'
  readonly shown: ShownOutcome
  /** Targets to drop from caches. */
  readonly revalidate: readonly string[]
  /** Of the action. */
  readonly id: string
  readonly received: ReceivedCall
}

/** What an outcome means for the page. */
type ShownOutcome =
  | Extract<ActionOutcome, { kind: 'value' }>
  | JudgedRedirect
  /** The form shows its state again. */
  | {
      readonly kind: 'state'
      readonly status: 413 | 422 | 500 | 503
      readonly state: InvalidInput | FailedAction
      readonly secret: readonly string[] | undefined
    }
  | { readonly kind: 'stopped'; readonly stopped: Stopped }

/** Takes a call from its unread body to its result: guards of the page, body, bound arguments, schema, handler. */
export async function performCall(
  parts: ActionParts,
  page: MatchedRoute,
  context: RequestContext,
): Promise<CallResult> {
  using _ = context.work.begin()
  const refused = refuseOthers(page, context)
  if (refused !== undefined) return refused
  const judged = await judgeCall(parts, page, context)
  if (judged.kind !== 'judged') return judged
  const { limits, named } = judged
  using held = parts.heldBodies.open(
    limits.streamed ? MAX_STREAMED_FIELD_BYTES : limits.bytes,
    clientKey(context.clientAddress.address),
  )
  context.onFinish(() => giveAfterWork(context, () => held[Symbol.dispose]()))
  let arrived: ArrivedCall | undefined
  try {
    const call = await receiveCall(parts, { ...judged, memory: held }, page, context)
    if (call.kind !== 'arrived') return call
    // A guard may have given the session to who is signed in at the host.
    const others = refuseOthers(page, context)
    if (others !== undefined) {
      if (call.body.kind === 'form') call.body.discard()
      return others
    }
    held.run()
    arrived = call
    const finished = await run(parts, call, { page, renewed: judged.renewed }, context)
    if (judged.renewed !== undefined && isRefusal(finished, judged.renewed)) return judged.renewed
    if (finished !== 'running') return resultOf(call, finished, page, context)
    // The client router retries by itself, and gets the outcome.
    if (context.data === undefined) return { kind: 'refused', status: 409 }
    return { kind: 'refused', status: 503, reason: 'a call that is still being worked on' }
  } catch (thrown) {
    if (context.aborted?.cause === 'gone') return { kind: 'answered' }
    if (!(thrown instanceof BodyError)) throw thrown
    const large = await showTooLarge(parts, { arrived, named }, thrown, context)
    if (large === undefined) return { kind: 'refused', status: thrown.status, reason: thrown.message }
    return resultOf(large, { outcome: large.outcome, revalidate: [] }, page, context)
  }
}

/** What one user's page calls is not run for another one. */
function refuseOthers({ route }: MatchedRoute, context: RequestContext): UnperformedCall | undefined {
  const marks = context.req.headers[PAGE_SESSIONS_HEADER.toLowerCase()]
  if (context.data === undefined || typeof marks !== 'string') return undefined
  try {
    context.audience.expectUsers(pageUsers(marks))
    return undefined
  } catch (thrown) {
    dropBody(context.req, context.res)
    return { kind: 'stopped', stopped: { thrown, boundaryFrom: route.chain.length - 1, place: 'action' } }
  }
}

/** @param renewed as in `JudgedCall`: then only a former outcome counts. */
async function run(
  { calls }: ActionParts,
  arrived: ArrivedCall,
  { page, renewed }: Pick<JudgedCall, 'renewed'> & { readonly page: MatchedRoute },
  context: RequestContext,
): Promise<FinishedCall | 'running'> {
  const { declared, received, body } = arrived
  const work = async (): Promise<FinishedCall> =>
    renewed === undefined
      ? runAction(declared, received, page.params, context)
      : { outcome: { kind: 'thrown', thrown: renewed.stopped.thrown }, revalidate: [] }
  const key = await idempotencyKey(declared, received, context)
  const call = await context.record.measure<Promise<FinishedCall | 'running'>>(measured(arrived), () =>
    key === undefined ? work() : calls.run(key, work, context),
  )
  context.forgetReads()
  if (body.kind === 'form') body.discard()
  if (!context.req.complete) dropBody(context.req, context.res)
  return call
}

function isRefusal(finished: FinishedCall | 'running', { stopped }: StoppedCall): boolean {
  return finished !== 'running' && finished.outcome.kind === 'thrown' && finished.outcome.thrown === stopped.thrown
}

function resultOf(
  { id, received }: Pick<ArrivedCall, 'id' | 'received'>,
  { outcome, revalidate }: FinishedCall,
  page: MatchedRoute,
  context: RequestContext,
): FinishedResult {
  return { kind: 'finished', shown: shownOutcome(outcome, page, context), revalidate, id, received }
}

function shownOutcome(outcome: ActionOutcome, { route }: MatchedRoute, context: RequestContext): ShownOutcome {
  if (outcome.kind === 'value') return outcome
  if (outcome.kind === 'invalid') {
    const { state, status = 422, secret } = outcome
    return { kind: 'state', status, state, secret }
  }
  const { thrown } = outcome
  const judged = judgeThrown(thrown)
  if (outcome.kind === 'thrown') {
    const stopped: Stopped = { thrown, boundaryFrom: route.chain.length - 1, place: 'action' }
    return judged.kind === 'redirect' ? judged : { kind: 'stopped', stopped }
  }
  const state: FailedAction = { kind: 'failed', digest: reportFailure(thrown, context, 'action'), ...outcome.typed }
  return { kind: 'state', status: judged.kind === 'failure' ? judged.status : 500, state, secret: outcome.secret }
}

/** How an action is measured. */
function measured({ id, declared: { name = id } }: ArrivedCall): MeasuredPart<FinishedCall | 'running'> {
  return {
    kind: 'action',
    name,
    spanName: () => id,
    thrownIn: (call) => (call !== 'running' && 'thrown' in call.outcome ? [call.outcome.thrown] : undefined),
  }
}
