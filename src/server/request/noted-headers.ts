import { refuseInReadScope } from '../stores/cache/read-scope.ts'
import { namesHeader } from '../http/vary.ts'
import type { Audience } from './audience.ts'
import { refuseLateVisitor, type LateReads } from './late-changes.ts'

/** What knows for whom the answer is. */
interface NotedRequest extends LateReads {
  readonly audience: Pick<Audience, 'hasOwnAuthorization' | 'hasOwnCookie' | 'sharedBy'>
}

/** A loader may have taken it from its arguments before a value for all visitors was made. */
const OF_REQUEST = refusingGetters(Request.prototype, ['url', 'headers', 'body', 'referrer'])
const OF_HEADERS = refusingMethods(Headers.prototype, [
  'entries',
  'forEach',
  'getSetCookie',
  'keys',
  'values',
  Symbol.iterator,
])

/**
 * Notes when code asks the headers of a request for its cookies or its `Authorization`: `context.cookie()` does it by
 * itself. What copies all headers says nothing of what it looks at. Refuses all of it where a value for all visitors is made.
 */
export function noteCredentials(request: Request, noted: NotedRequest): Request {
  const { headers } = request
  const { audience } = noted
  for (const method of ['get', 'has'] as const) {
    const read = Headers.prototype[method].bind(headers) as (name: string) => string | boolean | null
    const value = (name: string): string | boolean | null => {
      refuseInReadScope('request')
      const lower = String(name).toLowerCase()
      if (lower !== 'cookie' && lower !== 'authorization') return read(name)
      const isOwn = Headers.prototype.has.call(headers, lower)
      if (isOwn) refuseLateVisitor(noted, `The header ${lower}`, (vary) => namesHeader(vary, lower))
      if (lower === 'cookie') audience.hasOwnCookie = audience.hasOwnCookie === true || isOwn
      else audience.hasOwnAuthorization ||= isOwn
      return read(name)
    }
    Object.defineProperty(headers, method, { value, configurable: true, writable: true })
  }
  Object.defineProperties(headers, OF_HEADERS)
  Object.defineProperties(request, OF_REQUEST)
  const clone = request.clone.bind(request)
  const value = (): Request => noteCredentials(clone(), noted)
  Object.defineProperty(request, 'clone', { value, configurable: true, writable: true })
  return request
}

type Descriptors = Record<PropertyKey, PropertyDescriptor & ThisType<object>>

function refusingGetters(prototype: object, names: readonly string[]): Descriptors {
  const descriptors: Descriptors = {}
  for (const name of names) {
    const read = Object.getOwnPropertyDescriptor(prototype, name)?.get
    const get = function get(this: object): unknown {
      refuseInReadScope('request')
      return read?.call(this)
    }
    descriptors[name] = { get, configurable: true }
  }
  return descriptors
}

function refusingMethods(prototype: object, names: readonly PropertyKey[]): Descriptors {
  const descriptors: Descriptors = {}
  for (const name of names) {
    const read = Reflect.get(prototype, name) as (...args: unknown[]) => unknown
    const value = function value(this: object, ...args: unknown[]): unknown {
      refuseInReadScope('request')
      return read.apply(this, args)
    }
    descriptors[name] = { value, configurable: true, writable: true }
  }
  return descriptors
}
