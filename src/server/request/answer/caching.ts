import { mayBeShared } from '../../http/cache-control.ts'
import { namesHeader, namesVisitor } from '../../http/vary.ts'
import type { Audience } from '../audience.ts'
import type { RequestContext } from '../context.ts'
import { setsCookie } from './answer-headers.ts'
import { mayShareUnderPolicy } from './host-headers.ts'

/** The `Cache-Control` of an answer. */
export interface Caching {
  readonly value: string
  /** Whether shared caches may store the answer: then it must contain nothing of one visitor, and no nonce. */
  readonly shared: boolean
}

/** Per visitor, revalidated each time. */
export const PRIVATE: Caching = { value: 'private, no-cache', shared: false }
/** For all visitors; caches ask each time, because nobody can tell them of drops. */
export const SHARED: Caching = { value: 'public, no-cache', shared: true }
/** Per visitor, never stored: route data, and what was to be public but sets a cookie. */
export const ONE_VISITOR: Caching = { value: 'private, no-store', shared: false }
/** Never stored: failures and refusals. */
export const NO_STORE: Caching = { value: 'no-store', shared: false }

/** Facts that decide about caching. */
interface CachingFacts {
  readonly status: number
  /** `Cache-Control` that the author of the answer wants. */
  readonly wanted: string | undefined
  /** Used if the author wants nothing. */
  readonly byDefault: Caching
  /** Whether the answer sets a cookie: then it belongs to one visitor. */
  readonly setsCookie: boolean
  /** Whether the answer is the page that shows a form's state or faults. */
  readonly answersForm?: boolean
  /** As `isForOne`: no shared cache asks a guard, or whose session it is. */
  readonly guarded?: boolean
}

/**
 * Whether an answer is for its visitor alone: it is behind a guard, or was made for somebody who is signed in, or of
 * something that the visitor has and its `Vary` does not name. Of a session that is still being opened nobody knows.
 * @param vary what its author has declared.
 * @param isRuled whether only a rule or middleware wants it shared, which do not know that the address was read. Its author
 * knows: a limit or the log may need it.
 */
export function isForOne(audience: Audience, vary: string | null = null, isRuled = false): boolean {
  const { guarded, isOpening, sessions, hasOwnAuthorization, hasOwnCookie, headers, ofAddress, ofLocals } = audience
  if (guarded || isOpening || (sessions !== undefined && sessions.lives.length > 0)) return true
  // The author of a page does not know what the loader of a layout reads.
  const named = vary ?? ''
  if (hasOwnCookie === true && !namesHeader(named, 'cookie')) return true
  if (hasOwnAuthorization && !namesHeader(named, 'authorization')) return true
  for (const [name, isSent] of headers ?? []) if (isSent && !namesHeader(named, name)) return true
  return (ofLocals || (ofAddress && isRuled)) && !namesVisitor(named)
}

/** Decides the `Cache-Control` of an answer: failures are never stored, answers with a cookie, behind a guard or of a session never shared. */
export function cachingOf({
  status,
  wanted,
  byDefault,
  setsCookie,
  answersForm,
  guarded = false,
}: CachingFacts): Caching {
  if (answersForm && (status < 400 || status === 422)) {
    // Browsers cannot load it again by its URL: Back shows the stored answer, or an error page of the browser.
    return wanted !== undefined && /\bno-store\b/i.test(wanted) ? ONE_VISITOR : PRIVATE
  }
  if (status >= 400) return NO_STORE
  if (wanted === undefined) return byDefault
  const shared = mayBeShared(wanted)
  if (shared && guarded) return setsCookie ? ONE_VISITOR : byDefault
  return shared && setsCookie ? ONE_VISITOR : { value: wanted, shared }
}

/**
 * Decides the `Cache-Control` of a document, as far as the request, its loaders, rules and middleware determine it.
 * @param status 200 while the document is being rendered: no other one is shared more.
 */
export function documentCaching(context: RequestContext, status: number): Caching {
  const { audience, givenHeaders, req, res } = context
  const own = givenHeaders?.get('cache-control') ?? undefined
  const ruled = res.getHeader('cache-control')
  const caching = cachingOf({
    status,
    wanted: own ?? (ruled === undefined ? undefined : String(ruled)),
    byDefault: PRIVATE,
    setsCookie: setsCookie(context),
    guarded: isForOne(audience, givenHeaders?.get('vary'), own === undefined),
    answersForm: req.method === 'POST',
  })
  return mayShareUnderPolicy(res) ? caching : privateCaching(caching)
}

/** For a document that contains something of one visitor, such as a nonce. */
export function privateCaching(caching: Caching): Caching {
  return caching.shared ? PRIVATE : caching
}

/**
 * Removes the `Cache-Control` that a rule or middleware has set from the response: like a loader's, it is checked
 * before it is sent.
 */
export function takeRuledCaching({ res }: RequestContext): string | undefined {
  const value = res.getHeader('cache-control')
  if (value !== undefined) res.removeHeader('cache-control')
  return value === undefined ? undefined : String(value)
}
