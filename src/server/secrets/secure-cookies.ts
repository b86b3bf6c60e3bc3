import { isSecure, type ClientAddress } from '../http/trusted-proxy.ts'

const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Whether a browser keeps a `Secure` cookie, and so any that is named `__Host-`. Over https all do; on this machine
 * without https, all except those built on WebKit: https://bugs.webkit.org/show_bug.cgi?id=281149
 */
export function keepsSecureCookies(clientAddress: ClientAddress, userAgent: string | undefined): boolean {
  const isWebKit = /AppleWebKit\//.test(userAgent ?? '') && !/Chrom(?:e|ium)\//.test(userAgent ?? '')
  return !isWebKit || isSecure(clientAddress) || !LOOPBACK.test(clientAddress.host)
}
