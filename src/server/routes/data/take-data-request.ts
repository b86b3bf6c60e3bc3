import type { IncomingMessage } from 'node:http'
import { layoutId, pageId } from '../../../client/react/route-view.ts'
import { BUILD_HEADER, ROUTE_DATA_PREFIX } from '../../../shared/protocol/route-data.ts'
import type { RouteDefinitions } from '../../../shared/route-definition.ts'
import { sendMethods, sendText } from '../../request/answer/send-plain.ts'
import type { HeaderList } from '../../http/header-list.ts'
import type { RequestContext } from '../../request/context.ts'
import { setUrl } from '../../request/request-url.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { refuseCall } from '../../request/answer/refuse-call.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import { readActionSearch, type CallJudge } from '../actions/take-action.ts'
import { readDataUrl } from '../../http/data-url.ts'
import { redirectTo } from '../decide/stopped.ts'
import { sendDocumentHead, sendHead } from './data-answer.ts'

/** Parts for recognising requests for route data. */
interface DataRequestParts {
  readonly buildId: string
  readonly routes: RouteDefinitions
  /** Whether the runtime itself answers a path, so that no page can have it. */
  readonly isRuntimePath: (pathname: string) => boolean
  readonly calls: CallJudge
}

const METHODS = 'GET, HEAD, OPTIONS'
const ALLOW: HeaderList = ['Allow', METHODS]
const BUILD = BUILD_HEADER.toLowerCase()

/**
 * Creates the handler that recognises route data. It removes the prefix and the runtime's own parameters from the URL,
 * so that everything after it (middleware, rules, matching, loaders) sees the URL of the page and guards it alike.
 * @returns handles a request whose path is one of route data; `false` if it has been answered.
 */
export function createDataRequests({
  buildId,
  routes,
  isRuntimePath,
  calls: { registry, origins },
}: DataRequestParts): (context: RequestContext) => boolean {
  const known = segmentIds(routes)

  return (context) => {
    const url = readDataUrl(context.pathname, context.search)
    const { req, res } = context
    context.record.route = `${ROUTE_DATA_PREFIX}/*`
    res.setHeader(BUILD_HEADER, buildId)
    if (req.method === 'OPTIONS') {
      sendMethods(context, METHODS)
      return false
    }
    const call = req.method === 'POST' ? readActionSearch(url.search) : undefined
    if (req.method !== 'GET' && req.method !== 'HEAD' && call?.target === undefined) {
      sendText(context, 405, 'Method not allowed', ALLOW)
      return false
    }

    if (call === undefined && isForeignFetch(req)) {
      context.record.refused = 'a page of another site'
      sendText(context, 403, 'Refused')
      return false
    }

    const { pathname, segments } = url
    const search = call?.search ?? url.search
    const client = req.headers[BUILD]
    const isOtherBuild = client !== undefined && client !== buildId
    context.askForData(pathname, search, {
      build: buildId,
      isOtherBuild,
      isRuntimePath: isRuntimePath(pathname),
      ...(segments === undefined ? {} : { segments }),
    })
    if (call?.target !== undefined) {
      if (isForeignCall(context, origins)) {
        refuseCall(context, 403)
        return false
      }
      if (registry.get(call.target.id) === undefined) return refuse(context, 404, 'an unknown action')
      context.callAction(search, call.target)
    }
    // All builds agree on the ids of actions, so a call from another build runs; its page gets the result and no data.
    if (isOtherBuild && context.action === undefined) return refuse(context, 409, 'another build')
    if (url.fault !== undefined) return refuse(context, 400, url.fault)
    if (!isOtherBuild && segments?.some((id) => !known.has(id)) === true) {
      return refuse(context, 400, 'an unknown segment')
    }
    if (context.isTidied) {
      sendHead(context, 200, { redirect: redirectTo(pathname + search) })
      return false
    }
    setUrl(req, pathname + search)
    return true
  }
}

/**
 * Whether a page of another site makes the request, other than by navigating its visitor here. It could not read the
 * answer, but its size and timing would reveal what the visitor may see.
 */
function isForeignFetch({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate'
}

function refuse(context: RequestContext, status: number, reason: string): false {
  context.record.refused = reason
  if (context.req.method === 'POST') dropBody(context.req, context.res)
  sendDocumentHead(context, status)
  return false
}

function segmentIds(routes: RouteDefinitions): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const [key, { layout, page }] of Object.entries(routes)) {
    if (layout !== undefined) ids.add(layoutId(key))
    if (page !== undefined) ids.add(pageId(key))
  }
  return ids
}
