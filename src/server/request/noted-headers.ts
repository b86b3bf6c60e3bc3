import type { Audience } from './audience.ts'

/** What knows for whom the answer is. */
type Noted = Pick<Audience, 'hasOwnAuthorization' | 'hasOwnCookie'>

/**
 * Notes when code asks the headers of a request for its cookies or its `Authorization`: `context.cookie()` does it by
 * itself. What copies all headers says nothing of what it looks at.
 */
export function noteCredentials(request: Request, audience: Noted): Request {
  const { headers } = request
  for (const method of ['get', 'has'] as const) {
    const read = Headers.prototype[method].bind(headers) as (name: string) => string | boolean | null
    const value = (name: string): string | boolean | null => {
      const lower = String(name).toLowerCase()
      const found = (): boolean => Headers.prototype.has.call(headers, lower)
      if (lower === 'cookie') audience.hasOwnCookie = audience.hasOwnCookie === true || found()
      else if (lower === 'authorization') audience.hasOwnAuthorization ||= found()
      return read(name)
    }
    Object.defineProperty(headers, method, { value, configurable: true, writable: true })
  }
  const clone = request.clone.bind(request)
  const value = (): Request => noteCredentials(clone(), audience)
  Object.defineProperty(request, 'clone', { value, configurable: true, writable: true })
  return request
}
