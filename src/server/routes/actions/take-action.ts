import type { RequestHandler } from 'express'
import { ACTION_PARAM } from '../../../shared/protocol/action-call.ts'
import { withoutAction } from '../../../shared/protocol/action-search.ts'
import { sendLocation } from '../../request/answer/send-plain.ts'
import { type ActionTarget } from '../../request/request-kind.ts'
import { contextOf } from '../../request/attached-context.ts'
import { setUrl } from '../../request/request-url.ts'
import type { ActionRegistry } from './registry.ts'
import { refuseCall } from '../../request/answer/refuse-call.ts'
import { isForeignCall } from '../../request/same-origin.ts'

/** Parts for judging calls before they are read. */
export interface CallJudge {
  readonly registry: ActionRegistry
  /** Public origins; empty to accept the request's own host. */
  readonly origins: readonly string[]
}

const MARK = `${ACTION_PARAM}=`

/**
 * Removes the runtime's parameter from a page's URL. Of two, one would be somebody else's choice, so they name no action.
 * @param search `''` or with its question mark.
 */
export function readActionSearch(search: string): { readonly search: string; readonly target?: ActionTarget } {
  let at = search.indexOf(MARK)
  while (at > 0 && search[at - 1] !== '?' && search[at - 1] !== '&') at = search.indexOf(MARK, at + 1)
  if (at < 1) return { search }
  const end = search.indexOf('&', at)
  const isOne = end === -1 || !search.slice(end).includes(`&${MARK}`)
  const named = isOne ? search.slice(at + MARK.length, end === -1 ? undefined : end) : ''
  const [id = '', form = ''] = named.split('.')
  const isAlone = at === 1 && end === -1
  return { search: isAlone ? '' : withoutAction(search), target: { id, form: /^\d{1,6}$/.test(form) ? form : '' } }
}

/**
 * Recognises forms that are posted to their page. Later middleware, rules and matching see the URL of that page. Calls
 * from other sites and of unknown actions end here, with their body unread.
 */
export function takeActions({ registry, origins }: CallJudge): RequestHandler {
  return (req, _res, next) => {
    const context = contextOf(req)
    if (context.data !== undefined || context.middlewareOnly !== undefined) return next()
    const { search, target } = readActionSearch(context.search)
    if (target === undefined) return next()
    const url = context.pathname + search
    // The address bar shows this after a form was refused; it is not a page's URL.
    if (req.method === 'GET' || req.method === 'HEAD') return sendLocation(context, 303, url)
    if (req.method === 'POST') {
      if (isForeignCall(context, origins)) return refuseCall(context, 403)
      if (registry.get(target.id) === undefined) return refuseCall(context, 404)
      context.callAction(search, target)
      setUrl(req, url)
    }
    next()
  }
}
