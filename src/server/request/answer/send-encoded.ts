import type { HeaderList } from '../../http/header-list.ts'
import { MIN_ENCODED_BYTES, negotiateEncoding } from '../../http/content-encoding.ts'
import type { KeptBody } from '../../stores/cache/kept-body.ts'
import type { RequestContext } from '../context.ts'
import { send } from './send.ts'

/**
 * Sends a complete body in the coding that the visitor prefers.
 * @param headers without those of coding and length; `Vary` names `Accept-Encoding`.
 */
export async function sendEncoded(
  context: RequestContext,
  status: number,
  headers: HeaderList,
  body: KeptBody,
): Promise<void> {
  const { req, res } = context
  const isSmall = body.plain.length < MIN_ENCODED_BYTES
  const encoding = isSmall ? undefined : negotiateEncoding(req.headers['accept-encoding'] as string | undefined)
  const bytes = await body.in(encoding)
  if (context.aborted !== undefined) return
  const coding = encoding === undefined ? [] : ['Content-Encoding', encoding]
  send(context, status, [...headers, ...coding, 'Content-Length', String(bytes.length)])
  res.end(req.method === 'HEAD' ? undefined : bytes)
}
