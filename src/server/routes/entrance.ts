import type { IncomingMessage, ServerResponse } from 'node:http'
import { basePath, isUnderBasePath } from '../../shared/base-path.ts'
import { RUNTIME_PREFIX } from '../../shared/runtime-paths.ts'
import { judgeTarget } from '../http/request-target.ts'
import { attachHost } from '../request/host-request.ts'
import type { RequestJudge } from '../request/judge-request.ts'
import type { UrlDecider } from './decide/url-decider.ts'

/** What an Express application does with a request; `next` leads on in the server that it is mounted in. */
export type Handle = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void

/** What the entrance works with. */
interface EntranceParts {
  /** Whether another Express server may hand requests over. */
  readonly isEmbedded: boolean
  readonly judge: RequestJudge
  readonly decider: Pick<UrlDecider, 'answers'>
  /** Path at which browsers leave their reports, without the base path. */
  readonly relayPath: string
  /** Whether middleware of the application may answer what the table does not. */
  readonly hasMiddleware: boolean
}

/** The application is not mounted at the path that it was built for. */
export class MountError extends Error {
  override readonly name = 'MountError'

  /** @param mounted path in the host; `/` is its root. */
  constructor(mounted: string) {
    const built = basePath()
    const way = `mount it with app.use('${built || '/'}', …), or build it with basePath '${mounted === '/' ? '' : mounted}'`
    super(`This Millrace build is made for the base path '${built}' and mounted at '${mounted}': ${way}`)
    // Express prints it: the way here helps nobody.
    this.stack = `${this.name}: ${this.message}`
  }
}

interface MountedMessage extends IncomingMessage {
  baseUrl?: string
  originalUrl?: string
}

/**
 * Runs in front of an application that has a base path or a host. Behind it the path of a request is the table's, and
 * `baseUrl` and `originalUrl` are as Express has them in a mounted router. A host gets back at once what cannot be the
 * application's.
 *
 * | passed on by              | path            | then                                               |
 * |---------------------------|-----------------|----------------------------------------------------|
 * | a socket                  | below the base  | taken, without the base                            |
 * | a socket                  | any other       | taken as it is: the guard refuses it               |
 * | a host, mounted elsewhere | any             | `MountError`                                       |
 * | a host                    | of another case | the host's: Express compares without case          |
 * | a host                    | unknown here    | the host's, or the application's middleware's first |
 */
export function createEntrance(parts: EntranceParts, handle: Handle): Handle {
  const base = basePath()
  return (req: MountedMessage, res, next) => {
    if (!parts.isEmbedded || next === undefined) {
      takeOffBase(req, base)
      return handle(req, res, next)
    }
    const { baseUrl = '' } = req
    if (baseUrl !== base) {
      return next(baseUrl.toLowerCase() === base.toLowerCase() ? undefined : new MountError(baseUrl || '/'))
    }
    const isUnknown = !isOurs(req, parts)
    if (isUnknown && !parts.hasMiddleware) return next()
    attachHost(req, isUnknown)
    handle(req, res, next)
  }
}

function takeOffBase(req: MountedMessage, base: string): void {
  const { url = '' } = req
  if (base === '' || req.baseUrl !== undefined) return
  const [authority] = /^(?:https?:\/\/[^/?#\\]*)?/i.exec(url) ?? ['']
  const target = url.slice(authority.length)
  if (!isUnderBasePath(target)) return
  const rest = target.slice(base.length)
  req.originalUrl = url
  req.baseUrl = base
  req.url = authority + (rest.startsWith('/') ? rest : `/${rest}`)
}

/** Whether the runtime, the table or a rule answers, be it with a refusal. */
function isOurs(req: IncomingMessage, { judge, decider, relayPath }: EntranceParts): boolean {
  const judged = judge(req)
  const target = judged.target.kind === 'redirect' ? judgeTarget(judged.target.location) : judged.target
  if (target.kind !== 'ok') return true
  const { pathname } = target
  if (`${pathname}/`.startsWith(RUNTIME_PREFIX) || pathname === relayPath) return true
  return decider.answers(req, { ...target, host: judged.clientAddress.host })
}
