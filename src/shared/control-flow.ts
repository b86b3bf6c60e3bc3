/**
 * Control flow that is not a failure: redirect, not found, forbidden, unauthorized. It is thrown, so that a loader, an
 * action or a component can use it at any depth, and it is never logged or reported as an error.
 */

import type { RedirectTarget } from './link-target.ts'

/** Redirect statuses that are useful for documents (RFC 9110, section 15.4). */
export type RedirectStatus = 301 | 302 | 303 | 307 | 308

const REDIRECT_STATUSES: readonly RedirectStatus[] = [301, 302, 303, 307, 308]

/** The refusals that have a fallback page, with their status. */
export const REFUSAL_STATUS = { notFound: 404, forbidden: 403, unauthorized: 401 } as const

/** The name of a refusal, equal to the segment key of its fallback page. */
export type RefusalKind = keyof typeof REFUSAL_STATUS

/** Thrown by `redirect()`. `to` is as the application wrote it; the Location guard checks it before it is sent. */
export class RedirectSignal extends Error {
  override readonly name = 'RedirectSignal'
  declare readonly to: string
  declare readonly status: RedirectStatus
  /** Whether an absolute URL of another site is allowed. */
  declare readonly external: boolean

  constructor(to: string, status: RedirectStatus, external = false) {
    // Without the target: its query may hold a token, and messages get into logs, of a cause or after the answer.
    super('Redirect')
    this.to = to
    this.status = status
    this.external = external
  }
}

/** Thrown by `notFound()`, `forbidden()` and `unauthorized()`. */
export class RefusalSignal extends Error {
  override readonly name = 'RefusalSignal'
  declare readonly kind: RefusalKind

  constructor(kind: RefusalKind) {
    super(kind)
    this.kind = kind
  }
}

/**
 * Redirects to another URL. In a loader before the first byte it is an HTTP redirect; after it, the page navigates.
 * @param to a path of this site. Anything else causes a 500 and is never sent as `Location`, because most targets are
 * from visitors.
 * @param status default: 307, which keeps the method and is not cached.
 * @param options `external: true` also allows an absolute http(s) URL; use it only for targets that no visitor can
 * choose.
 * @throws {RedirectSignal} always, unless the status is invalid.
 * @throws {RangeError} for a status that is not a redirect.
 * @example
 * ```ts
 * import { redirect } from 'millrace/server'
 *
 * export async function requireVisitor(request: Request) {
 *   return (await readVisitor(request)) ?? redirect('/sign-in')
 * }
 * ```
 */
export function redirect<To extends string>(
  to: RedirectTarget<To>,
  status: RedirectStatus = 307,
  options?: { readonly external: boolean },
): never {
  if (!REDIRECT_STATUSES.includes(status)) {
    throw new RangeError(`redirect() takes ${REDIRECT_STATUSES.join(', ')} as its status, and not ${String(status)}`)
  }
  throw new RedirectSignal(to, status, options?.external)
}

/**
 * As `redirect`, but permanent: 308.
 * @throws {RedirectSignal} always.
 */
export function permanentRedirect<To extends string>(to: RedirectTarget<To>): never {
  throw new RedirectSignal(to, 308)
}

/**
 * Shows the nearest `notFound` page with status 404.
 * @throws {RefusalSignal} always.
 * @example
 * ```ts
 * import { notFound, type LoaderArgs } from 'millrace/server'
 *
 * export async function loader({ params }: LoaderArgs<'/mills/[id]'>) {
 *   return { mill: (await findMill(params.id)) ?? notFound() }
 * }
 * ```
 */
export function notFound(): never {
  throw new RefusalSignal('notFound')
}

/**
 * Shows the nearest `forbidden` page with status 403: the visitor is known, but not allowed.
 * @throws {RefusalSignal} always.
 */
export function forbidden(): never {
  throw new RefusalSignal('forbidden')
}

/**
 * Shows the nearest `unauthorized` page with status 401: the visitor is not signed in.
 * @throws {RefusalSignal} always.
 */
export function unauthorized(): never {
  throw new RefusalSignal('unauthorized')
}

/** Prefix of the digests that carry control flow through React's error channel; digests of errors never have it. */
const DIGEST_PREFIX = 'millrace:'

/**
 * The digest that carries control flow through React into the browser.
 * @returns `undefined` for anything else.
 */
export function controlFlowDigest(thrown: unknown): string | undefined {
  if (thrown instanceof RedirectSignal) {
    return `${DIGEST_PREFIX}redirect:${thrown.status}:${thrown.external ? 'external' : ''}:${thrown.to}`
  }
  if (thrown instanceof RefusalSignal) return `${DIGEST_PREFIX}${thrown.kind}`
  return undefined
}

/**
 * The control flow of a thrown value: a signal itself, or an error with such a digest.
 * @returns `undefined` for an ordinary failure.
 */
export function controlFlowOf(thrown: unknown): RedirectSignal | RefusalSignal | undefined {
  if (isControlFlow(thrown)) return thrown
  const digest = digestOf(thrown)
  if (!digest?.startsWith(DIGEST_PREFIX)) return undefined
  const text = digest.slice(DIGEST_PREFIX.length)
  const redirected = /^redirect:(30[12378]):(external)?:(.*)$/s.exec(text)
  if (redirected) {
    const [, status, external, to = ''] = redirected
    return new RedirectSignal(to, Number(status) as RedirectStatus, external !== undefined)
  }
  return Object.hasOwn(REFUSAL_STATUS, text) ? new RefusalSignal(text as RefusalKind) : undefined
}

/** Whether a value is control flow itself. Digests are not trusted: on the server, other errors may have any digest. */
export function isControlFlow(thrown: unknown): thrown is RedirectSignal | RefusalSignal {
  return thrown instanceof RedirectSignal || thrown instanceof RefusalSignal
}

/** The digest of an error, if it has one. */
export function digestOf(thrown: unknown): string | undefined {
  const held = Object(thrown) as { readonly digest?: unknown }
  // `in` first: reading a missing member may throw.
  return 'digest' in held && typeof held.digest === 'string' ? held.digest : undefined
}
