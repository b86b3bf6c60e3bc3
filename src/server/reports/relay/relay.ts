/**
 * Accepts the envelopes of browsers on a path of this site, so that content blockers, outages and delays of the service
 * lose no report. It answers when the envelope is kept, and never waits for the service.
 *
 * | answer | when                                                                                   |
 * |--------|----------------------------------------------------------------------------------------|
 * | 200    | kept, or nothing in it is reportable; `{"id": <event id>}`                              |
 * | 400    | not an envelope, no DSN in it, bytes that are invalid in their content coding           |
 * | 403    | sent by a page of another site; the DSN of another project                              |
 * | 405    | not a POST                                                                              |
 * | 408    | the body was too slow                                                                   |
 * | 413    | header line over 64 KiB, envelope over 20 MiB as sent or inflated, over 1,000 items      |
 * | 415    | an unsupported content coding                                                           |
 * | 429    | too many from this client                                                               |
 * | 503    | nothing can be kept at the moment, or too many bodies are being received                |
 */
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import { BodyError } from '../../http/body/body-error.ts'
import { createHeldBodies } from '../../http/body/held-bodies.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { send } from '../../request/answer/send.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import { contextOf } from '../../request/attached-context.ts'
import { type RequestContext } from '../../request/context.ts'
import { RequestAborted } from '../../request/request-aborted.ts'
import { createBodyPlaces, NoPlaceError } from './body-places.ts'
import {
  CLIENT_LIMIT,
  createClientAllowance,
  CREDIT_BYTES,
  workOf,
  type ClientAllowance,
  type EnvelopeWork,
} from './client-allowance.ts'
import { clientKey } from '../../http/client-key.ts'
import { dsnText, isSameDsn, parseDsn, type Dsn } from '../../config/dsn.ts'
import { EnvelopeError, type Envelope } from '../intake/envelope.ts'
import { ACCEPTED_CODINGS } from './inflate.ts'
import type { Intake, Receipt } from '../intake/intake.ts'
import type { RateLimitState } from '../delivery/rate-limit-state.ts'
import { MAX_ENVELOPE_BYTES, readReportBody } from './read-report-body.ts'
import { senderHeaders } from './sender-headers.ts'

/** Three times 20 MiB, and the same again while chunks are joined. */
const LARGE_BODIES = 3
/** Half of it for one client: two large bodies in their places, and a hundred that wait for theirs. */
const MOST_HELD_BYTES = 134_217_728
const PLACE_PATIENCE_MS = 10_000
const NO_ROOM_SECONDS = 30
const COMPLAIN_EVERY_MS = 60_000

/** Parts of the relay. */
interface RelayParts {
  /** Path of this site at which it answers. */
  readonly path: string
  /** The only DSN that is accepted. */
  readonly dsn: Dsn
  /** Public origins; empty to accept the request's own host. */
  readonly origins: readonly string[]
  readonly intake: Intake
  /** The service's rate limits. */
  readonly limits: Pick<RateLimitState, 'headers'>
  readonly log: Pick<Logger, 'error'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Why an envelope is refused; `message` is the answer's text and repeats nothing that the client sent. */
class RelayRefusal extends Error {
  override readonly name = 'RelayRefusal'
  readonly status: 400 | 403 | 405 | 429
  /** Seconds; 0 if a retry is pointless. */
  readonly retryAfter: number

  constructor(status: 400 | 403 | 405 | 429, message: string, retryAfter = 0) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/**
 * The relay as middleware: requests to other paths pass through. Mount it after the request guard and before everything
 * else.
 */
export function createRelay(parts: RelayParts): RequestHandler {
  const { path, dsn, origins, intake, limits, log, now } = parts
  const places = createBodyPlaces(LARGE_BODIES, PLACE_PATIENCE_MS)
  const bodies = createHeldBodies(MOST_HELD_BYTES)
  const allowance = createClientAllowance()
  const ownDsn = dsnText(dsn)
  const complained = { at: Number.NEGATIVE_INFINITY }

  return (req, _res, next) => {
    const context = contextOf(req)
    if (context.pathname !== path) return next()
    context.record.route = path
    context.record.kind = 'relay'
    return answer(context)
  }

  async function answer(context: RequestContext): Promise<void> {
    let receipt: Receipt
    try {
      receipt = await take(context)
    } catch (thrown) {
      return refuse(context, thrown)
    }
    accept(context, receipt)
  }

  async function take(context: RequestContext): Promise<Receipt> {
    const { req } = context
    if (req.method !== 'POST') throw new RelayRefusal(405, 'Reports are sent by POST')
    if (isForeignCall(context, origins)) throw new RelayRefusal(403, 'Reports are accepted from this site only')
    const client = clientKey(context.clientAddress.address)
    const tab = createTab(context, client, allowance)
    await tab.settle()
    using held = bodies.open(MAX_ENVELOPE_BYTES, client)
    const charge = (bytes: number, received: number): Promise<void> => {
      held.hold(bytes)
      tab.work.bytes += bytes
      tab.work.received = received
      return tab.settle()
    }
    const owner = {
      client,
      get signal() {
        return context.signal
      },
    }
    using body = await readReportBody(req, { judgeHeader, charge, places }, owner)
    tab.work.isWhole = true
    await tab.settle()
    const chargeValues = (values: number): Promise<void> => {
      tab.work.values += values
      return tab.settle()
    }
    return await intake.take(body.bytes, { client, headers: senderHeaders(context), charge: chargeValues })
  }

  function judgeHeader(header: Envelope['header']): void {
    const { dsn: stated } = header
    if (typeof stated !== 'string') throw new RelayRefusal(400, 'The envelope names no DSN')
    if (stated === ownDsn) return
    const parsed = parseDsn(stated)
    if (parsed === undefined || !isSameDsn(parsed, dsn)) throw new RelayRefusal(403, 'The DSN of another project')
  }

  function accept(context: RequestContext, { eventId }: Receipt): void {
    const body = JSON.stringify(eventId === undefined ? {} : { id: eventId })
    send(context, 200, [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(Buffer.byteLength(body)),
      'Cache-Control',
      'no-store',
      ...limits.headers(now()),
    ])
    context.res.end(body)
  }

  function refuse(context: RequestContext, thrown: unknown): void {
    if (thrown instanceof RequestAborted) return
    const { status, reason, retryAfter, headers } = describeRefusal(thrown)
    if (status === 503 && !isTooMany(thrown)) complain(thrown)
    context.record.refused = reason
    dropBody(context.req, context.res)
    sendText(context, status, reason, [...headers, ...limits.headers(now(), retryAfter)])
  }

  /** A full disk refuses every report; the log, perhaps on the same disk, gets one line once in a while. */
  function complain(thrown: unknown): void {
    if (now() - complained.at < COMPLAIN_EVERY_MS) return
    complained.at = now()
    const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause.message : undefined
    const err = thrown instanceof Error ? { type: thrown.name, message: thrown.message, cause } : { message: 'unknown' }
    log.error({ err }, 'reports cannot be kept')
  }
}

/** The charge for one envelope. */
interface Tab {
  readonly work: { -readonly [part in keyof EnvelopeWork]: EnvelopeWork[part] }
  /** Uses the credits for the work so far. @throws {RelayRefusal} 429 without enough of them. */
  settle(): Promise<void>
}

/** One credit for the envelope, and one more for each full step of its work. */
function createTab(context: RequestContext, client: string, allowance: ClientAllowance): Tab {
  const work = { bytes: 0, received: 0, isWhole: false, values: 0 }
  let credits = 0
  return {
    work,
    async settle() {
      for (; credits < 1 + Math.floor(workOf(work) / CREDIT_BYTES); credits += 1) {
        const { allowed, retryAfterSeconds } = await allowance.use(client, () =>
          context.limit(`report ${client}`, CLIENT_LIMIT),
        )
        if (!allowed) throw new RelayRefusal(429, 'Too many reports at once', retryAfterSeconds)
      }
    },
  }
}

interface Refusal {
  readonly status: number
  readonly reason: string
  readonly retryAfter: number
  readonly headers: HeaderList
}

function describeRefusal(thrown: unknown): Refusal {
  if (thrown instanceof RelayRefusal) {
    const headers = thrown.status === 405 ? ['Allow', 'POST'] : []
    return { status: thrown.status, reason: thrown.message, retryAfter: thrown.retryAfter, headers }
  }
  if (thrown instanceof BodyError || thrown instanceof EnvelopeError) {
    const headers = thrown.status === 415 ? ['Accept-Encoding', ACCEPTED_CODINGS] : []
    return { status: thrown.status, reason: thrown.message, retryAfter: isTooMany(thrown) ? 1 : 0, headers }
  }
  const reason = 'Reports cannot be kept at the moment'
  return { status: 503, reason, retryAfter: isTooMany(thrown) ? 1 : NO_ROOM_SECONDS, headers: [] }
}

/** Whether it is only a shortage of memory: a moment later there may be room for the body. */
function isTooMany(thrown: unknown): boolean {
  return thrown instanceof NoPlaceError || (thrown instanceof BodyError && thrown.status === 503)
}
