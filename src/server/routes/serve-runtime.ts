import type { RequestHandler } from 'express'
import { HEALTH_PATHS } from '../../shared/runtime-paths.ts'
import type { RouteDefinitions } from '../../shared/route-definition.ts'
import type { CallJudge } from './actions/take-action.ts'
import type { KeptFiles } from '../assets/kept-files.ts'
import { serveAssets } from '../assets/serve-assets.ts'
import { isDataPath } from '../http/data-url.ts'
import { createDataRequests } from './data/take-data-request.ts'
import type { Readiness } from '../process/readiness.ts'
import { send } from '../request/answer/send.ts'
import { sendMethods, sendText } from '../request/answer/send-plain.ts'
import { contextOf } from '../request/attached-context.ts'
import { type RequestContext } from '../request/context.ts'

/** Parts for answering the runtime's own URLs. */
interface RuntimeParts {
  readonly readiness: Readiness
  readonly buildId: string
  /** Absolute path of the build's public folder; `undefined` without a build. */
  readonly assets: string | undefined
  /** Files of former builds. */
  readonly keptFiles: KeptFiles | undefined
  /** The table's entries, whose segments route data may name. */
  readonly routes: RouteDefinitions
  readonly calls: CallJudge
  /** Inside of a host: whether the process is well is the host's to tell. */
  readonly isEmbedded: boolean
  /** Whether documents are being refused, and not to one client alone. */
  readonly isOverloaded: () => boolean
}

const ASSETS = '/_m/assets/'
const METHODS = 'GET, HEAD, OPTIONS'

/**
 * Answers the URLs of the runtime itself: assets, build id, health. Route data is only recognised here, and answered
 * with the pages. One check of the path finds all other requests.
 */
export function serveRuntime(parts: RuntimeParts): RequestHandler {
  const { readiness, buildId, assets, keptFiles, routes, calls, isEmbedded, isOverloaded } = parts
  const files = serveAssets(assets, keptFiles)
  const takeDataRequest = createDataRequests({
    buildId,
    routes,
    calls,
    isRuntimePath: (pathname) => answerOf(pathname) !== undefined,
  })
  const build = JSON.stringify({ buildId })

  return (req, res, next) => {
    const context = contextOf(req)
    const answer = answerOf(context.pathname)
    if (answer === undefined) return next()
    if (answer === 'data') return takeDataRequest(context) ? next() : undefined
    context.record.route = answer.route
    context.record.kind = answer.kind
    if (req.method === 'GET' || req.method === 'HEAD' || answer.missing === true) return answer.send(context)
    if (req.method === 'OPTIONS') return sendMethods(context, METHODS)
    sendText(context, 405, 'Method not allowed', ['Allow', METHODS])
  }

  function answerOf(pathname: string): RuntimeAnswer | 'data' | undefined {
    if (pathname.startsWith(ASSETS)) return { route: `${ASSETS}*`, kind: 'asset', send: files }
    if (!isEmbedded && HEALTH_PATHS.includes(pathname)) {
      const answer = pathname === '/readyz' ? sendReadiness : (context: RequestContext) => sendText(context, 200, 'ok')
      return { route: pathname, kind: 'health', send: answer }
    }
    if (pathname === '/_m/build.json') return { route: pathname, kind: 'other', send: sendBuild }
    if (isDataPath(pathname)) return 'data'
    if (pathname === '/_m' || pathname.startsWith('/_m/')) {
      return { route: '/_m/*', kind: 'other', missing: true, send: (context) => sendText(context, 404, 'No such URL') }
    }
    return undefined
  }

  function sendReadiness(context: RequestContext): void {
    const state = readiness.state() === 'ready' && isOverloaded() ? 'shedding' : readiness.state()
    if (state === 'ready') sendText(context, 200, state)
    else sendText(context, 503, state, ['Retry-After', '1'])
  }

  function sendBuild(context: RequestContext): void {
    send(context, 200, ['Content-Type', 'application/json', 'Cache-Control', 'no-store'])
    context.res.end(context.req.method === 'HEAD' ? undefined : build)
  }
}

interface RuntimeAnswer {
  /** Names the URL in the log. */
  readonly route: string
  readonly kind: RequestContext['record']['kind']
  /** This URL has no content, whatever the method. */
  readonly missing?: true
  readonly send: (context: RequestContext) => void
}
