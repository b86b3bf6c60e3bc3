import type { RequestHandler } from 'express'
import { layoutId, pageId } from '../../client/react/route-view.ts'
import type { RouteDataHead } from '../../shared/protocol/route-data.ts'
import type { Route, RouteTable } from '../../shared/route-table.ts'
import type { Shares } from '../http/shares.ts'
import { refuseCall } from '../request/answer/refuse-call.ts'
import { sendConstantPage, sendLocation, sendMethods, sendText } from '../request/answer/send-plain.ts'
import { contextOf } from '../request/attached-context.ts'
import { hostOf, passOn } from '../request/host-request.ts'
import type { RequestContext } from '../request/context.ts'
import type { ActionParts } from './actions/serve-action.ts'
import { serveForm } from './actions/serve-form.ts'
import { serveCall, type CallParts } from './data/serve-call.ts'
import { serveData } from './data/serve-data.ts'
import { unmatchedPage, type MatchedPage } from './load/matched-page.ts'
import { servePage, showPage, type PageParts } from './render/serve-page.ts'
import type { AppRules } from './rules/apply-rules.ts'
import { admitResource, serveResource, type ResourceParts } from './resources/serve-resource.ts'

/** Parts for answering the application's URLs. */
export interface RouteParts extends PageParts, Pick<ResourceParts, 'eventStreams' | 'unread'> {
  readonly table: RouteTable
  readonly rules: AppRules
  /** Answers of resource routes and of other origins in progress. */
  readonly streams: Shares
  readonly actions: ActionParts
  /** Ids of the segments whose modules import an action. Empty without a build: then it is unknown. */
  readonly actionSegments: ReadonlySet<string>
  /** The parts of a URL on which the choice of its route depends; see `routeScope`. */
  readonly scope: NonNullable<RouteDataHead['scope']>
  /** Whether another Express server answers what the table does not. */
  readonly isEmbedded: boolean
}

const PAGE_METHODS = 'GET, HEAD, OPTIONS'
const ACTION_PAGE_METHODS = 'GET, HEAD, POST, OPTIONS'

/**
 * Answers every URL except the runtime's: by rewrite, resource route, page, or the not-found page; or with the data of
 * that page.
 */
export function serveRoutes(parts: RouteParts): RequestHandler {
  const { table, rules, modules, config, actions, actionSegments, streams, eventStreams, unread } = parts
  const data: CallParts = { ...parts, renderTimeoutMs: config.renderTimeoutMs }
  const forms = { ...actions, origins: config.origins }
  const bodies = { heldBodies: actions.heldBodies, origins: config.origins }
  const resources = { modules, bodyLimit: actions.bodyLimit, bodies, eventStreams, unread }
  const unmatched = unmatchedPage(table)

  return async (req, _res, next) => {
    const context = contextOf(req)
    const { middlewareOnly } = context
    if (middlewareOnly !== undefined) {
      if (hostOf(req)?.isUnknown === true) return passOn(req, next)
      return sendLocation(context, 308, middlewareOnly.tidyUrl ?? '/')
    }
    if (context.data !== undefined)
      return context.action === undefined ? serveData(data, context) : serveCall(data, context)
    const asked = rules.subjectOf(context)
    if (rules.apply(context, asked)) return undefined
    const resolution = context.hasDotSegments ? ({ kind: 'none' } as const) : rules.resolve(asked)
    switch (resolution.kind) {
      case 'proxy':
        return admitResource(streams, context, () => rules.proxy(resolution, context))
      case 'undecodable':
        context.record.refused = 'undecodable percent sequence'
        return sendText(context, 400, context.record.refused)
      case 'bad-destination':
        context.record.refused = `the rewrite ${resolution.source} cannot be filled in: ${resolution.fault}`
        return sendText(context, resolution.status, resolution.status < 500 ? 'Bad request' : 'This rewrite is broken')
      case 'none':
        context.record.kind = 'document'
        return context.action === undefined
          ? servePage(parts, { ...unmatched, search: context.search }, context)
          : serveForm(forms, unmatched, context, (after) =>
              showPage(parts, { ...unmatched, search: context.search }, context, after),
            )
      case 'route':
        break
    }
    const { route, params } = resolution.match
    const page: MatchedPage = { route, params, search: resolution.search, isUnmatched: false }
    context.record.route = route.pattern
    if (route.kind === 'handler') {
      context.record.kind = 'resource'
      // Actions are called on pages only: a handler would get the page's request instead of its own.
      if (context.action !== undefined) return refuseCall(context, 404)
      return admitResource(streams, context, () => serveResource(page, context, resources))
    }
    context.record.kind = 'document'
    const { method } = context.req
    if (method === 'POST') {
      const called = { ...page, takesForms: hasAction(route, actionSegments) }
      return serveForm(forms, called, context, (after) => showPage(parts, page, context, after))
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return refuseMethod(context, hasAction(route, actionSegments) ? ACTION_PAGE_METHODS : PAGE_METHODS)
    }
    return servePage(parts, page, context)
  }
}

function refuseMethod(context: RequestContext, allowed: string): void {
  if (context.req.method === 'OPTIONS') sendMethods(context, allowed)
  else sendConstantPage(context, { status: 405 }, ['Allow', allowed])
}

function hasAction({ key, chain }: Route, actionSegments: ReadonlySet<string>): boolean {
  return actionSegments.has(pageId(key)) || chain.some((entry) => actionSegments.has(layoutId(entry.key)))
}
