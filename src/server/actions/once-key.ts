import { hash } from 'node:crypto'
import type { RequestContext } from '../request/context.ts'
import type { DeclaredAction } from './action.ts'
import type { ReceivedCall } from './read-call.ts'

/**
 * Cookies that say nothing of whose session it is, and may change between a call and its repetition: those of analytics,
 * messages for the next page, tokens against forgery, and settings. Any other may be a session's.
 */
const NO_SESSION = /^_(?!_(?:Host|Secure)-)|\.flash$|csrf|xsrf|consent|theme|lang|locale/i

/**
 * The key under which a call runs once: a hash of what the client calls it, of the visitor's session cookies as they were
 * sent, and of the input. A key alone is no secret, and the outcome of a call may set a cookie: nobody else gets it. The
 * address is left out, since it changes with the network. Visitors without a session count as one.
 * @returns `undefined` for a call that has no key of the client, and for one that cannot be compared with another.
 */
export async function onceKey(
  { id, definition }: DeclaredAction,
  { once, input, leading, form }: ReceivedCall,
  { data, req }: Pick<RequestContext, 'data' | 'req'>,
): Promise<string | undefined> {
  if (once === undefined) return undefined
  // A script makes a key for each call; a document has one for all its forms, and files that have not been read yet
  // cannot be compared.
  if (data === undefined && definition.upload !== undefined) return undefined
  const said = [id, once, sessionCookies(req.headers.cookie), input, leading, await fileHashes(form)]
  return hash('sha256', JSON.stringify(said), 'base64url')
}

/** As sent, in an order of their own. */
function sessionCookies(header = ''): readonly string[] {
  return header
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '' && !NO_SESSION.test(cookie.split('=', 1)[0] ?? ''))
    .toSorted()
}

/** JSON says nothing of files. A field that was left empty is one too, without a name and without bytes. */
function fileHashes(form: ReceivedCall['form']): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    (form?.fields ?? []).flatMap(([field, value]) =>
      typeof value === 'string'
        ? []
        : value.bytes().then((bytes) => [field, value.name, hash('sha256', bytes, 'base64url')]),
    ),
  )
}
