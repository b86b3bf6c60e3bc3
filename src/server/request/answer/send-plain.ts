import { withBasePath } from '../../../shared/base-path.ts'
import { MAX_TARGET_BYTES } from '../../../shared/limits.ts'
import { ROUTE_DATA_PREFIX } from '../../../shared/protocol/route-data.ts'
import type { RequestContext } from '../context.ts'
import { addGivenHeaders, setsCookie } from './answer-headers.ts'
import { cachingOf, NO_STORE, PRIVATE, takeRuledCaching } from './caching.ts'
import { constantPage, type ConstantPage } from './constant-page.ts'
import type { JudgedRedirect } from './judge-thrown.ts'
import type { Refusal } from '../judge-request.ts'
import { fill, textsOf } from './texts.ts'
import { send, sendAnyway } from './send.ts'
import { type HeaderList } from '../../http/header-list.ts'
import { CONSTANT_PAGE_POLICY } from './security-headers.ts'

/** Sends a page without React: refusals of bad input, and the last resort for failures. Never stored. */
export function sendConstantPage(context: RequestContext, page: ConstantPage, extra: HeaderList = []): void {
  const body = constantPage({ ...page, texts: page.texts ?? textsOf(context) })
  sendAnyway(context, page.status, [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
    'Content-Security-Policy',
    CONSTANT_PAGE_POLICY,
    ...extra,
  ])
  // A string is sent with the headers in one write, which is most of the cost of a refusal.
  context.res.end(context.req.method === 'HEAD' ? undefined : body)
}

/** Sends a short text. */
export function sendText(context: RequestContext, status: number, text: string, extra: HeaderList = []): void {
  const body = `${text}\n`
  sendAnyway(context, status, [
    'Content-Type',
    'text/plain; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
    ...extra,
  ])
  context.res.end(context.req.method === 'HEAD' ? undefined : body)
}

/**
 * Answers `OPTIONS`.
 * @param allowed methods, as `Allow` lists them.
 */
export function sendMethods(context: RequestContext, allowed: string): void {
  send(context, 204, ['Allow', allowed])
  context.res.end()
}

/**
 * Sends a redirect of a page. The answer to a form is 303, so that the browser loads the target without posting the
 * form again.
 */
export function sendPageRedirect(context: RequestContext, { status, location }: JudgedRedirect): void {
  sendLocation(context, context.req.method === 'POST' ? 303 : status, location)
}

/**
 * Refuses a location that is longer than a URL of a request may be: it would be refused when the browser goes there. Most of
 * it is the visitor's own URL, which a rule may repeat, and encoding it makes it up to three times as long.
 * @param location already checked by `judgeThrown` or `safeLocation`; the base path is added to a path.
 */
export function sendLocation(context: RequestContext, status: number, location: string): void {
  const target = withBasePath(location)
  if (target.length > MAX_TARGET_BYTES) return refuseLocation(context)
  const headers: HeaderList = ['Location', target, 'Content-Length', '0']
  headers.push('Cache-Control', redirectCaching(context, status))
  addGivenHeaders(headers, context)
  send(context, status, headers)
  context.res.end()
}

function refuseLocation(context: RequestContext): void {
  const headers: HeaderList = []
  // An action has run: what it has changed in the browser is changed.
  addGivenHeaders(headers, context)
  sendRefusal(context, { status: 414, reason: 'redirected to a URL that is too long' }, headers)
}

/** Refuses a request for its head. A person sees the answer to a mistyped link. */
export function sendRefusal(context: RequestContext, { status, reason }: Refusal, headers: HeaderList = []): void {
  context.record.refused = reason
  const { url, headers: asked } = context.req
  const isForPerson = asked.accept?.includes('text/html') && !url?.startsWith(`${ROUTE_DATA_PREFIX}/`)
  if (isForPerson) {
    const texts = textsOf(context, url?.slice(0, MOST_OF_A_PATH).split(/[?#]/, 1)[0])
    sendConstantPage(context, { status, message: fill(texts.refused, reason), texts }, headers)
  } else sendText(context, status, reason, headers)
}

/** Of a refused URL, the language may be named by its first segment. */
const MOST_OF_A_PATH = 100 // characters

/** A rule or middleware may make a redirect public that does not depend on the visitor; a loader means its page. */
function redirectCaching(context: RequestContext, status: number): string {
  const { req, givenHeaders } = context
  const { guarded, personal } = context.audience
  const ruled = takeRuledCaching(context)
  return cachingOf({
    status,
    wanted: givenHeaders?.has('cache-control') ? undefined : ruled,
    byDefault: status === 301 || status === 308 ? PRIVATE : NO_STORE,
    setsCookie: setsCookie(context),
    guarded: guarded || personal !== undefined || req.method === 'POST',
  }).value
}
