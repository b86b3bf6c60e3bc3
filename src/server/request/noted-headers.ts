import { refuseInReadScope } from '../stores/cache/read-scope.ts'
import { namesHeader } from '../http/vary.ts'
import { tellsVisitors, type Audience } from './audience.ts'
import { refuseLateVisitor, type LateReads } from './late-changes.ts'

/** What knows for whom the answer is. */
interface NotedRequest extends LateReads {
  readonly audience: Pick<Audience, 'noteHeader' | 'sharedBy'>
}

/** Whose requests and headers these are. */
const requests = new WeakMap<Request | Headers, NotedRequest>()

/** A loader may have taken it from its arguments before a value for all visitors was made. */
const OF_REQUEST = Object.fromEntries(
  (['url', 'headers', 'body', 'referrer'] as const).map((name) => [name, { get: refusing(name), configurable: true }]),
)

const OF_HEADERS = {
  get: method('get'),
  has: method('has'),
  entries: method('entries'),
  forEach: method('forEach'),
  keys: method('keys'),
  values: method('values'),
  // Of copies: `new Headers(headers)`, and `fetch(url, { headers })`.
  [Symbol.iterator]: method('entries'),
}

/**
 * Notes which headers code asks a request for: `context.cookie()` does it by itself. Of code that goes through all of them, or
 * copies them, nobody knows what it looks at: cookies and `Authorization`, as libraries do that know who is signed in. Refuses
 * all of it where a value for all visitors is made.
 */
export function noteCredentials(request: Request, noted: NotedRequest): Request {
  const { headers } = request
  requests.set(headers, noted)
  requests.set(request, noted)
  Object.defineProperties(headers, OF_HEADERS)
  Object.defineProperties(request, OF_REQUEST)
  const clone = request.clone.bind(request)
  const value = (): Request => noteCredentials(clone(), noted)
  Object.defineProperty(request, 'clone', { value, configurable: true, writable: true })
  return request
}

function refusing(name: string): (this: Request) => unknown {
  const read = Object.getOwnPropertyDescriptor(Request.prototype, name)?.get
  return function get() {
    refuseFor(this)
    return read?.call(this)
  }
}

function refuseFor(read: Request | Headers): void {
  const noted = requests.get(read)
  if (noted !== undefined) refuseInReadScope(noted, 'request')
}

function method(name: 'get' | 'has' | 'entries' | 'forEach' | 'keys' | 'values'): PropertyDescriptor {
  const read = Headers.prototype[name] as (...args: unknown[]) => unknown
  function value(this: Headers, ...args: unknown[]): unknown {
    refuseFor(this)
    const isOfOne = name === 'get' || name === 'has'
    for (const asked of isOfOne ? [String(args[0]).toLowerCase()] : ['cookie', 'authorization']) note(this, asked)
    return read.apply(this, args)
  }
  return { value, configurable: true, writable: true }
}

function note(headers: Headers, lower: string): void {
  const noted = requests.get(headers)
  if (noted === undefined || !tellsVisitors(lower)) return
  // All who take the same encodings may get the same answer.
  const isSent = lower !== 'accept-encoding' && Headers.prototype.has.call(headers, lower)
  if (isSent) refuseLateVisitor(noted, `The header ${lower}`, (vary) => namesHeader(vary, lower))
  noted.audience.noteHeader(lower, isSent)
}
