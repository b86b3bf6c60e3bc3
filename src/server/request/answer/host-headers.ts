import type { ServerResponse } from 'node:http'
import { withBasePath } from '../../../shared/base-path.ts'
import { isSecure } from '../../http/trusted-proxy.ts'
import type { RequestContext } from '../context.ts'
import { allowsSharing, mergePolicy } from './host-policy.ts'

const POLICY = 'content-security-policy'
const POLICIES = [POLICY, `${POLICY}-report-only`] as const
const REFERRER = 'referrer-policy'

/** The values of the header (Referrer Policy, section 3); browsers ignore others. */
const REFERRER_POLICIES: ReadonlySet<string> = new Set([
  'no-referrer',
  'no-referrer-when-downgrade',
  'origin',
  'origin-when-cross-origin',
  'same-origin',
  'strict-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
])

/**
 * Sets the policy of a page. Headers that were set before, by a host, by middleware or by a rule, are fitted to it: its
 * scripts run, and its forms are not taken for those of another site.
 * @param own the page's own policy.
 */
export function fitToPage(own: string, context: RequestContext): void {
  const { clientAddress, res } = context
  const { host } = clientAddress
  const facts = { own, host, assetsPath: withBasePath('/_m/assets/'), secure: isSecure(clientAddress) }
  for (const name of POLICIES) {
    const set = res.getHeader(name)
    if (set === undefined) continue
    const { value, forbidden } = mergePolicy(set, facts)
    res.setHeader(name, value)
    if (name === POLICY) tellForbidden(forbidden, context)
  }
  if (!res.hasHeader(POLICY)) res.setHeader('Content-Security-Policy', own)
  fitReferrers(context)
}

/** A page that the browser has keeps its policy: the nonce in it is that of the stored body. */
export function fitToNotModified(context: RequestContext): void {
  for (const name of POLICIES) context.res.removeHeader(name)
  fitReferrers(context)
}

/** Whether caches may share a page under the policy that was set before. */
export function mayShareUnderPolicy(res: ServerResponse): boolean {
  return allowsSharing(res.getHeader(POLICY))
}

/** @returns `same-origin` for a value that lets browsers send `Origin: null` with forms, else the value. */
export function fittingReferrers(value: string): string {
  const last = value
    .toLowerCase()
    .split(',')
    .map((policy) => policy.trim())
    .findLast((policy) => REFERRER_POLICIES.has(policy))
  return last === 'no-referrer' ? 'same-origin' : value
}

function fitReferrers({ res, services }: RequestContext): void {
  const set = res.getHeader(REFERRER)
  if (set === undefined) return
  const given = [set].flat().join()
  const value = fittingReferrers(given)
  if (value === given) return
  res.setHeader(REFERRER, value)
  services.warnOnce(
    REFERRER,
    { from: 'no-referrer', to: value },
    'documents replace this Referrer-Policy: with it, browsers send forms as if they were of another site',
  )
}

function tellForbidden(forbidden: readonly string[], { services }: RequestContext): void {
  if (forbidden.length === 0) return
  services.warnOnce(
    `policy ${forbidden.join()}`,
    { forbidden },
    'a Content-Security-Policy that was set in front forbids what pages may need: allow it there, or set none for this path',
  )
}
