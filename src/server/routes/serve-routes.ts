import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Shares } from '../http/shares.ts'
import { refuseCall } from '../request/answer/refuse-call.ts'
import { sendConstantPage, sendLocation, sendMethods, sendText } from '../request/answer/send-plain.ts'
import { contextOf } from '../request/attached-context.ts'
import { hostOf, passOn } from '../request/host-request.ts'
import type { RequestContext } from '../request/context.ts'
import { isForeignCall } from '../request/same-origin.ts'
import { takesForms } from './actions/receive-call.ts'
import { serveForm } from './actions/serve-form.ts'
import { serveCall, type CallParts } from './data/serve-call.ts'
import { serveData } from './data/serve-data.ts'
import type { Decision, MatchedRoute } from './decide/decision.ts'
import { createFilePages } from './kept/file-pages.ts'
import { createKeptPages, type KeptPages } from './kept/kept-pages.ts'
import { servePage, type PageParts } from './render/serve-page.ts'
import type { RequestForwarder } from './proxy/forward-request.ts'
import { admitResource, serveResource, type ResourceParts } from './resources/serve-resource.ts'

/** Parts for answering the application's URLs. */
interface RouteParts
  extends PageParts, Omit<CallParts, 'renderTimeoutMs' | 'kept'>, Pick<ResourceParts, 'eventStreams' | 'unread'> {
  readonly forwarder: RequestForwarder
  readonly log: Logger
  /** Answers of resource routes and of other origins in progress. */
  readonly streams: Shares
  /** Whether the pages become files; see `createFilePages`. */
  readonly forFiles: boolean
}

const LONG_HEAD_CHARACTERS = 2_048 // about twice what browsers send without large cookies
const PAGE_METHODS = 'GET, HEAD, OPTIONS'
const ACTION_PAGE_METHODS = 'GET, HEAD, POST, OPTIONS'

/**
 * Answers every URL except the runtime's, as `createUrlDecider` decides: by a redirect, another origin, a handler or a
 * page, or the not-found page; or with the data of that page.
 */
export function serveRoutes(parts: RouteParts): RequestHandler {
  const { decider, config } = parts
  const kept = parts.forFiles ? createFilePages(parts) : createKeptPages(parts)
  const data: CallParts = { ...parts, kept, renderTimeoutMs: config.renderTimeoutMs }
  const answer = answerDocuments({ ...parts, kept })
  return (req, _res, next) => {
    const context = contextOf(req)
    const { middlewareOnly } = context
    if (middlewareOnly !== undefined) {
      if (hostOf(req)?.isUnknown === true) return passOn(req, next)
      return sendLocation(context, 308, middlewareOnly.tidyUrl ?? '/')
    }
    const turn = hasLongHead(req) ? parts.admission.turnWhenDue(context) : undefined
    return turn === undefined ? decide(context) : turn.then(() => decide(context))
  }

  function decide(context: RequestContext): Promise<void> | undefined {
    if (context.aborted?.cause === 'gone') return undefined
    const decision = decider.decide(context)
    if (context.data === undefined) return answer(decision, context)
    return context.action === undefined ? serveData(data, decision, context) : serveCall(data, decision, context)
  }
}

/** Whether the head is so long that reading it by many rules costs as much as a page. */
function hasLongHead({ url = '', rawHeaders }: IncomingMessage): boolean {
  let characters = url.length
  for (const text of rawHeaders) characters += text.length
  return characters > LONG_HEAD_CHARACTERS
}

function answerDocuments(
  parts: RouteParts & { readonly kept: KeptPages },
): (decision: Decision, context: RequestContext) => Promise<void> | undefined {
  const { admission, modules, forFiles, config, actions, forwarder, streams, eventStreams, unread } = parts
  const bodies = { heldBodies: actions.heldBodies, origins: config.origins }
  const resources = { modules, forFiles, bodyLimit: actions.bodyLimit, bodies, eventStreams, admission, unread }

  return (decision, context) => {
    switch (decision.kind) {
      case 'redirect':
        return void sendLocation(context, decision.status, decision.location)
      case 'refused':
        context.record.refused = decision.reason
        return void sendText(context, decision.status, decision.text)
      case 'proxy':
        return admitResource(streams, context, () => forwarder.forward(decision, context))
      case 'handler':
        context.record.route = decision.route.pattern
        context.record.kind = 'resource'
        // Actions are called on pages only: a handler would get the page's request instead of its own.
        if (context.action !== undefined) return void refuseCall(context, 404)
        return admitResource(streams, context, () => serveResource(decision, context, resources))
      case 'page':
        context.record.route = decision.route.pattern
        return answerPage(parts, decision, context)
      case 'none':
        return answerPage(parts, decision, context)
    }
  }
}

function answerPage(
  parts: RouteParts & { readonly kept: KeptPages },
  page: MatchedRoute,
  context: RequestContext,
): Promise<void> | undefined {
  context.record.kind = 'document'
  if (parts.forFiles) return parts.kept.serve(page, context)
  const { method } = context.req
  if (page.kind === 'none') {
    if (context.action !== undefined) return serveForm(parts, page, context)
    // Its form has no session cookie: the application's page would say to all tabs that nobody is signed in.
    if (method === 'POST' && isForeignCall(context, parts.config.origins)) return void refuseCall(context, 404)
    return servePage(parts, page, context)
  }
  if (method === 'POST') return serveForm(parts, page, context)
  if (method === 'GET' || method === 'HEAD') {
    return page.route.definition.cache === 'shared' ? parts.kept.serve(page, context) : servePage(parts, page, context)
  }
  const allowed = takesForms(page, parts.actions) ? ACTION_PAGE_METHODS : PAGE_METHODS
  if (method === 'OPTIONS') return void sendMethods(context, allowed)
  return void sendConstantPage(context, { status: 405 }, ['Allow', allowed])
}
