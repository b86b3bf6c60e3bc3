import type { IncomingMessage } from 'node:http'
import { withBasePath } from '../../shared/base-path.ts'

/**
 * Sets the URL of a request for middleware behind the runtime, with `originalUrl` as in Express: middleware that protects
 * paths by this URL must not be bypassed.
 * @param url path and query of the table.
 */
export function setUrl(req: IncomingMessage, url: string): void {
  req.url = url
  ;(req as { originalUrl?: string }).originalUrl = withBasePath(url)
}
