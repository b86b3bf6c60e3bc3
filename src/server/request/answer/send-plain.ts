import { safeLocation } from '../../../shared/safe-location.ts'
import { RedirectSignal } from '../../../shared/control-flow.ts'
import type { RequestContext } from '../context.ts'
import { addGivenHeaders } from './answer-headers.ts'
import { constantPage, type ConstantPage } from './constant-page.ts'
import { reportFailure } from './failure.ts'
import { send } from './send.ts'
import { type HeaderList } from '../../http/header-list.ts'
import { CONSTANT_PAGE_POLICY } from './security-headers.ts'
import { UnsafeRedirectError } from './unsafe-redirect.ts'

/** Sends a page without React: refusals of bad input, and the last resort of failures. Never stored by anyone. */
export function sendConstantPage(context: RequestContext, page: ConstantPage, extra: HeaderList = []): void {
  const body = constantPage(page)
  send(context, page.status, [
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
  // As text it goes out with the head in one write, which is most of what a refusal costs.
  context.res.end(context.req.method === 'HEAD' ? undefined : body)
}

/** Sends a short text. */
export function sendText(context: RequestContext, status: number, text: string, extra: HeaderList = []): void {
  const body = `${text}\n`
  send(context, status, [
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
 * Sends a redirect of a page. Where a form was sent to it, the browser is to ask for the target and not to send the form
 * there once more: no page expects the form of another.
 * @returns as `sendRedirect`.
 */
export function sendPageRedirect(context: RequestContext, signal: RedirectSignal): UnsafeRedirectError | undefined {
  const { to, external } = signal
  return sendRedirect(context, context.req.method === 'POST' ? new RedirectSignal(to, 303, external) : signal)
}

/**
 * Sends a redirect that an application has asked for.
 * @returns what to show instead when the guard refuses the target; it is logged, and nothing has been sent.
 */
export function sendRedirect(context: RequestContext, signal: RedirectSignal): UnsafeRedirectError | undefined {
  const location = safeLocation(signal.to, signal)
  if (location === undefined) {
    const refused = new UnsafeRedirectError(signal)
    reportFailure(refused, context, 'loader')
    return refused
  }
  sendLocation(context, signal.status, location)
  return undefined
}

/** Sends a Location that has passed the guard. */
export function sendLocation(context: RequestContext, status: number, location: string): void {
  const headers: HeaderList = ['Location', location, 'Content-Length', '0']
  headers.push('Cache-Control', status === 301 || status === 308 ? 'private, no-cache' : 'no-store')
  addGivenHeaders(headers, context)
  send(context, status, headers)
  context.res.end()
}
