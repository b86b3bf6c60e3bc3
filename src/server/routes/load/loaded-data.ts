import { keepSegment, type KeptSegment } from '../../../shared/protocol/encode-route-data.ts'
import { BUILD_HEADER, ROUTE_DATA_TYPE } from '../../../shared/protocol/route-data.ts'
import { addGivenHeaders, varyOf } from '../../request/answer/answer-headers.ts'
import { cachingOf, NO_STORE, ONE_VISITOR, SHARED, type Caching } from '../../request/answer/caching.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentMaking, MadeData } from '../../request/document-making.ts'
import type { Route } from '../../../shared/route-table.ts'
import { redirectTo, replacementOf } from '../decide/stopped.ts'
import type { LoadResult } from './run-loaders.ts'

/**
 * Encodes what the loaders have returned in the making of a kept document: for clicks, which get the same data. It is
 * encoded now, so that nothing can change it later.
 * @returns `undefined` if it cannot be for all. Does not reject.
 */
export async function encodeLoaded(
  { settled = [], stopped }: LoadResult,
  { chain }: Route,
  context: RequestContext,
  making: DocumentMaking,
): Promise<MadeData | undefined> {
  const replaced = stopped && replacementOf(stopped, chain, context)
  const segments = new Map<string, KeptSegment>()
  if (replaced?.kind === 'redirect') {
    const headers = headersOf(ONE_VISITOR, context)
    return { at: context.readAt, segments, status: 200, headers, redirect: redirectTo(replaced.location) }
  }
  try {
    await Promise.all(
      settled.map(async ({ id: segment, result, search, facts }) => {
        const { value: data } = await result
        const meta = facts.meta(context) ?? {}
        const kept = keepSegment({ segment, meta }, { data, search: search?.value }, context.signal, (reason) => {
          // A value of a page that is not shown ends with the answer.
          if (context.aborted?.cause !== 'gone') making.note('failed')
          return { digest: reportFailure(reason, context, 'deferred') }
        })
        segments.set(segment, await kept)
      }),
    )
  } catch (thrown) {
    reportFailure(thrown, context, 'loader')
    making.note('failed')
    return undefined
  }
  if (context.aborted !== undefined && replaced === undefined) return undefined
  const made = { at: context.readAt, segments }
  if (replaced === undefined) return { ...made, status: 200, headers: headersOf(SHARED, context) }
  const { status, boundary: kind, at, digest, retryAfter } = replaced
  const outcome = at === undefined ? 'document' : { kind, at, ...(digest === undefined ? {} : { digest }) }
  return { ...made, status, retryAfter, headers: headersOf(NO_STORE, context), outcome }
}

function headersOf(byDefault: Caching, context: RequestContext): readonly string[] {
  const wanted = byDefault === SHARED ? (context.givenHeaders?.get('cache-control') ?? undefined) : undefined
  const { value } = cachingOf({ status: 200, wanted, byDefault, setsCookie: false })
  const headers = ['Content-Type', ROUTE_DATA_TYPE, 'Cache-Control', value]
  headers.push('Vary', `${varyOf(context, value)}, ${BUILD_HEADER}`)
  addGivenHeaders(headers, context)
  return headers
}
