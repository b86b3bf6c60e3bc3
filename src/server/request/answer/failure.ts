import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import { controlFlowDigest } from '../../../shared/control-flow.ts'
import type { RequestContext } from '../context.ts'
import { RenewedSession } from '../../secrets/renewed-session.ts'
import { RequestAborted } from '../request-aborted.ts'
import { judgeThrown } from './judge-thrown.ts'
import type { ClientAddress } from '../../http/trusted-proxy.ts'
import type { FailurePlace, ServerReporter } from '../request-reporter.ts'
import type { RequestRecord } from '../request-record.ts'

/**
 * The only file that decides what the outside may see of an exception: a status and a digest, nothing else. The log
 * line and the report of the same exception carry the same digest. One failure is logged and reported once per request,
 * however often renders meet it.
 */

const DIGEST_LENGTH = 12
const digests = new WeakMap<object, string>()

/** Identifies an exception without revealing it: equal for equal name, message and stack. */
export function errorDigest(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return digestText(`${typeof thrown} ${String(thrown)}`)
  const known = digests.get(thrown)
  if (known !== undefined) return known
  const { type, message, stack } = describeThrown(thrown)
  const made = digestText(thrown instanceof Error ? `${type} ${message} ${stack}` : 'object')
  digests.set(thrown, made)
  return made
}

function digestText(text: string): string {
  return hash('sha256', text, 'hex').slice(0, DIGEST_LENGTH)
}

/**
 * Logs a failure and reports it, once per request.
 * @param loader segment id of the loader that has failed.
 * @returns the digest for the page. For control flow, which is not logged, the digest that carries it through React;
 * `''` if the client has disconnected.
 */
export function reportFailure(met: unknown, context: RequestContext, place: FailurePlace, loader?: string): string {
  const judged = judgeThrown(met)
  if (judged.kind !== 'failure') return controlFlowDigest(judged.signal) ?? ''
  const { thrown } = judged
  if (thrown instanceof RenewedSession) {
    context.record.refused = thrown.message
    return errorDigest(thrown)
  }
  if (thrown instanceof RequestAborted && thrown.cause === 'gone') return ''
  const digest = errorDigest(thrown)
  if (context.reported.has(digest)) return digest
  context.reported.add(digest)
  const { log, record, reporter, trace, clientAddress, req, res, requestId, aborted } = context
  const { route, actionName: action, telemetry } = record
  // The answer has this status, whatever follows.
  const sent = res.headersSent ? res.statusCode : undefined
  log.error(
    { err: describeThrown(thrown), digest, place, route, loader, action, sent, ...requestInDevelopment(context) },
    'uncaught failure',
  )
  reporter?.failed(thrown, digest, place, { requestId, req, route, trace, clientAddress, aborted, sent })
  telemetry?.failed(thrown, digest)
  return digest
}

/** Facts of a finished request, without what its answer holds. */
interface FinishedRequest {
  readonly log: Pick<Logger, 'error'>
  readonly reporter: ServerReporter | undefined
  readonly record: Pick<RequestRecord, 'requestId' | 'method' | 'route'>
  readonly clientAddress: ClientAddress
}

/** What a scope calls once its request is over. Not written in place: it would keep the request alive (docs/decisions/0028). */
export function lateFailure(finished: FinishedRequest): (thrown: unknown) => void {
  return (thrown) => reportLateFailure(thrown, finished)
}

/** As `reportFailure`, for a promise that has failed after its request was over. */
function reportLateFailure(met: unknown, { log, reporter, record, clientAddress }: FinishedRequest): void {
  const judged = judgeThrown(met)
  if (judged.kind !== 'failure') return
  const { thrown } = judged
  if (thrown instanceof RenewedSession) return
  const digest = errorDigest(thrown)
  const { requestId, method, route } = record
  log.error({ requestId, err: describeThrown(thrown), digest, place: 'unawaited', route }, 'uncaught failure')
  reporter?.failed(thrown, digest, 'unawaited', { requestId, req: { method }, route, trace: undefined, clientAddress })
}

/** For the overlay. Elsewhere no log line has a URL, because URLs contain secrets. */
function requestInDevelopment({ req, prefetch }: RequestContext): {
  readonly method?: string
  readonly url?: string
  readonly prefetch?: true
} {
  if (process.env['NODE_ENV'] !== 'development') return {}
  const { method = '', url = '' } = req
  return { method, url: url.slice(0, MOST_URL), ...(prefetch ? { prefetch } : {}) }
}

const MOST_URL = 2_000 // characters; a longer one is not read by anybody

/** Parts of an exception that are logged. */
interface DescribedError {
  /** Its name, or `typeof` if it is not an error. */
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly cause?: DescribedError
}

/**
 * Describes an exception by these members only: errors of parsers and clients carry bodies and credentials in others.
 */
export function describeThrown(thrown: unknown): DescribedError {
  try {
    return describe(thrown, 0)
  } catch {
    // An object without a prototype has no string form, and a getter may throw: describing a failure must not cause
    // one.
    return { type: typeof thrown, message: 'something was thrown that cannot be described' }
  }
}

function describe(thrown: unknown, depth: number): DescribedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown).slice(0, 500) }
  const cause: unknown = depth < 3 ? thrown.cause : undefined
  return {
    type: thrown.name,
    message: thrown.message,
    ...(thrown.stack === undefined ? {} : { stack: thrown.stack }),
    ...(cause instanceof Error ? { cause: describe(cause, depth + 1) } : {}),
  }
}
