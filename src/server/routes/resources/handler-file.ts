import { declaredEvents } from '../../api/event-stream.ts'
import type { HandlerArgs } from '../../api/loader-types.ts'
import { namedFile } from '../../api/send-file.ts'
import { sendConstantPage } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import { cacheStatus } from '../../request/answer/cache-status.ts'
import { toWebRequest } from '../../request/web-request.ts'
import { untilAborted } from '../load/until-aborted.ts'

/** What a handler is called with: see `HandlerArgs`. */
type Args = HandlerArgs<never, unknown, unknown, unknown>

/** The reason of a page or a handler that depends on its search params. */
export const BY_QUERY = 'search params'

/**
 * What a handler gets whose answer becomes a file: a look at the query, or into the request, is noted. To take the request as
 * an argument is none: a handler may need its URL without `ORIGIN` only.
 */
export function watchedArgs(args: Omit<Args, 'request'>, context: RequestContext): Args {
  const request = toWebRequest(context)
  const watch = <Watched extends object>(
    of: string,
    watched: Watched,
    keys: readonly (keyof Watched & string)[],
  ): void => {
    for (const key of keys) {
      const value: unknown = watched[key]
      const get = (): unknown => {
        context.readVisitor(`${of}.${key}`)
        return value
      }
      Object.defineProperty(watched, key, { get })
    }
  }
  watch('request', request, ['url', 'headers', 'clone'])
  // As in the making of a kept page: each of them is other for each answer. The rest of the context notes by itself.
  watch('context', args.context, ['requestId', 'secrets', 'limit', 'after'])
  return {
    ...args,
    request,
    get search() {
      context.readVisitor(BY_QUERY)
      return args.search
    },
  }
}

/**
 * Why the answer of a handler cannot be a file for everybody. It is read to its end: a stream may look at its visitor late.
 * @returns as in `Cache-Status`.
 */
export async function fileFault(response: Response, context: RequestContext): Promise<string | undefined> {
  const { headers } = response
  if (declaredEvents(response) !== undefined || /^text\/event-stream/i.test(headers.get('content-type') ?? '')) {
    return 'event stream'
  }
  const isStream = namedFile(response) === undefined && response.body !== null
  if (isStream) await untilAborted(response.clone().arrayBuffer(), context)
  const given = [headers, context.givenHeaders].map((some) => some?.get('cache-control') ?? '')
  const caching = /\b(?:private|no-store)\b/i.exec([...given, context.res.getHeader('cache-control') ?? ''].join())
  const { personal } = context.audience
  // The origin is that of `ORIGIN`, the same for everybody.
  return personal === undefined || personal === 'origin' ? caching?.[0].toLowerCase() : personal
}

/** Answers what cannot be a file. @param reason for `Cache-Status`. */
export function sendNoFile(context: RequestContext, reason: string): void {
  sendConstantPage(context, { status: 501 }, ['Cache-Status', cacheStatus({ kind: 'bypass', reason })])
}
