import { ServerResponse } from 'node:http'
import { dropTargetedCaching, mayBeShared } from '../../http/cache-control.ts'
import { ONE_VISITOR } from './caching.ts'

const IMMUTABLE = /\bimmutable\b/i

/**
 * Keeps an answer out of shared caches if middleware in front sets a cookie while the head is written, as session libraries
 * do by `on-headers`. Call it before the head of an answer that caches may share is written.
 *
 * Such a cookie is not known beforehand, some libraries set it by the prototype's `setHeader`, and they have kept the
 * `writeHead` that was there before them. Node reads `statusMessage` after all of them, and before it takes the headers.
 */
export function keepLateCookiesPrivate(res: ServerResponse): void {
  // Nobody else is asked when this head is written.
  if (res.writeHead === ServerResponse.prototype.writeHead && res.end === ServerResponse.prototype.end) return
  const cookies = String(res.getHeader('set-cookie'))
  let message = res.statusMessage
  Reflect.defineProperty(res, 'statusMessage', {
    configurable: true,
    enumerable: true,
    get() {
      if (!res.headersSent && String(res.getHeader('set-cookie')) !== cookies) makePrivate(res)
      return message
    },
    set(text: string) {
      message = text
    },
  })
}

function makePrivate(res: ServerResponse): void {
  const caching = String(res.getHeader('cache-control') ?? '')
  if (!mayBeShared(caching)) return
  const isFile = IMMUTABLE.test(caching)
  res.setHeader('Cache-Control', isFile ? `private, ${caching.replace(/\bpublic\b[, ]*/i, '')}` : ONE_VISITOR.value)
  dropTargetedCaching(res)
}
