import type { RequestContext } from '../context.ts'
import { isSecure } from '../../http/trusted-proxy.ts'
import { addVary } from './answer-headers.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { securityHeaders } from './security-headers.ts'

/** Writes status and headers; headers that rules and middleware have set are kept, and win. */
export function send(context: RequestContext, status: number, headers: HeaderList): void {
  const { res } = context
  const all = headers.concat(securityHeaders(isSecure(context.clientAddress)))
  // A rule that makes a path cacheable means its pages, not their failures.
  if (status >= 400) res.removeHeader('cache-control')
  const already = res.getHeaderNames()
  if (already.length === 0) {
    res.writeHead(status, all)
    return
  }
  const preset = new Set(already)
  for (let index = 0; index < all.length; index += 2) {
    const name = all[index] ?? ''
    const [lower, value] = [name.toLowerCase(), all[index + 1] ?? '']
    // Without our `Vary`, caches would send one encoding to all.
    if (lower === 'vary') addVary(res, value)
    else if (lower === 'set-cookie' || !preset.has(lower)) res.appendHeader(name, value)
  }
  res.writeHead(status)
}
