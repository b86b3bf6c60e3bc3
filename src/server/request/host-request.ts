import type { IncomingMessage } from 'node:http'

const HOST = Symbol('millrace.host-request')

/** A request that another Express server has handed to the application, and that may go on to what is behind it there. */
interface HostRequest {
  /** Neither the table nor a rule answers it: unless middleware of the application does, it is the host's. */
  readonly isUnknown: boolean
  /** As the host had them. */
  readonly url: string | undefined
  readonly originalUrl: string
  /** It is the host's again: nothing of the application has a part in its answer. */
  isPassedOn: boolean
}

interface HostedMessage extends IncomingMessage {
  originalUrl?: string
  [HOST]?: HostRequest
}

/** Notes how the host passed a request on. */
export function attachHost(req: HostedMessage, isUnknown: boolean): void {
  const { url, originalUrl = '' } = req
  req[HOST] = { isUnknown, url, originalUrl, isPassedOn: false }
}

/** `undefined` if there is no host, or nothing behind the application. */
export function hostOf(req: IncomingMessage): HostRequest | undefined {
  return (req as HostedMessage)[HOST]
}

/**
 * Gives a request back to the host, with the URL that it had there.
 * @param next of a layer of the application's own router.
 */
export function passOn(req: HostedMessage, next: (leave: 'router') => void): void {
  const host = req[HOST]
  if (host === undefined) throw new Error('There is no host to give this request back to')
  host.isPassedOn = true
  Object.assign(req, { url: host.url, originalUrl: host.originalUrl })
  next('router')
}
