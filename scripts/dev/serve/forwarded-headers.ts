import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

const LOOPBACK = /^(?:::1|(?:::ffff:)?127(?:\.\d{1,3}){3})$/

/**
 * The headers with which a request reaches the application's server, which trusts this process as its proxy. A program of
 * this machine, such as a tunnel, may say who its client is; what other machines say of themselves is replaced.
 * `X-Forwarded-Host` is always left out: the gateway has checked `Host`.
 * @returns names and values in turn.
 */
export function forwardedHeaders({ rawHeaders, headers, socket }: IncomingMessage): readonly string[] {
  const isLocal = LOOPBACK.test(socket.remoteAddress ?? '')
  const isKept = (name: string): boolean => !name.startsWith('x-forwarded-') || (isLocal && name !== 'x-forwarded-host')
  const kept = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && isKept(name.toLowerCase()) ? [name, rawHeaders[index + 1] ?? ''] : [],
  )
  if (!isLocal) kept.push('X-Forwarded-For', socket.remoteAddress ?? '')
  if (!isLocal || headers['x-forwarded-proto'] === undefined) {
    kept.push('X-Forwarded-Proto', socket instanceof TLSSocket ? 'https' : 'http')
  }
  return kept
}
