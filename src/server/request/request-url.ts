import type { IncomingMessage } from 'node:http'
import { withBasePath } from '../../shared/base-path.ts'

/**
 * Gives a request the URL that middleware behind the runtime meets, with `originalUrl` as Express has it: middleware that
 * guards by the URL as it was sent must not be led past its guard.
 * @param url path and query of the table.
 */
export function setUrl(req: IncomingMessage, url: string): void {
  req.url = url
  ;(req as { originalUrl?: string }).originalUrl = withBasePath(url)
}
