/** Accepted envelopes for the error service: kept until the service has confirmed them. */

/** An envelope that was checked and may be sent to the service. */
export interface AcceptedEnvelope {
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  /** Name of its sender; the address for browsers. Envelopes of one client are delivered in order, one at a time. */
  readonly client: string
  /** Lets the service recognise an envelope that is sent twice. */
  readonly eventId: string | undefined
  /** Sent to the service unchanged. */
  readonly headers: Readonly<Record<string, string>>
  /** The envelope, byte for byte. */
  readonly body: Buffer
  /** Number of items by category, as client reports name them. */
  readonly categories: Readonly<Record<string, number>>
  /** Without room, `other` is evicted before `error`. */
  readonly keep: 'error' | 'other'
}

/** Some spools are in this process, others behind a network. */
export type Awaitable<Value> = Value | Promise<Value>

/** An envelope that was not accepted, because there is no room or the disk cannot be written. Answered with 503. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError'
  /** `bound`: only more important envelopes are kept. `disk`: it cannot be written; `cause` has the reason. */
  readonly limit: 'bound' | 'disk'

  constructor(limit: 'bound' | 'disk', cause?: unknown) {
    super(limit === 'bound' ? 'The report spool is full' : 'The report spool cannot be written', { cause })
    this.limit = limit
  }
}
