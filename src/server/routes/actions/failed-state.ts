import type { FailedAction } from '../../../shared/action-result.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { judgeThrown } from '../../request/answer/judge-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import type { ActionOutcome } from './run-action.ts'

/** Reports a failure that its form shows, and makes the state for that. */
export function failedState(
  { thrown, typed }: Extract<ActionOutcome, { kind: 'failed' }>,
  context: RequestContext,
): { readonly state: FailedAction; readonly status: 500 | 503 } {
  const digest = reportFailure(thrown, context, 'action')
  const judged = judgeThrown(thrown)
  return { state: { kind: 'failed', digest, ...typed }, status: judged.kind === 'failure' ? judged.status : 500 }
}
