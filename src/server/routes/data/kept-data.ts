import { hash } from 'node:crypto'
import { routeDataOf } from '../../../shared/protocol/encode-route-data.ts'
import type { RouteDataOutcome } from '../../../shared/protocol/route-data.ts'
import { sendEncoded } from '../../request/answer/send-encoded.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import { retryHeaders } from '../../request/answer/judge-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentData } from '../../stores/cache/document-entries.ts'
import { KeptBody } from '../../stores/cache/kept-body.ts'
import type { AskedData } from '../kept/document-makings.ts'
import { DataAnswer, sendDocumentHead, type Head } from './data-answer.ts'

/** A request for the data of a page with `cache: 'shared'`. */
interface KeptRequest {
  readonly context: RequestContext
  /** The first line of its answer. */
  readonly head: Head
  readonly ids: AskedData['ids']
  readonly alone: AskedData['alone']
}

/** How it is answered: each answer is whole. */
export function keptData({ context, head, ids, alone }: KeptRequest): AskedData {
  const textOf = (data: DocumentData, stop?: Head, outcome?: RouteDataOutcome): string => {
    const build = context.data?.build ?? ''
    if (stop !== undefined) return routeDataOf({ build, ...stop }, [])
    const segments = ids.flatMap((id) => data.segments.get(id) ?? [])
    return routeDataOf({ build, ...(data.at !== undefined && { at: data.at }), ...head }, segments, outcome)
  }
  return {
    ids,
    answer(data) {
      const text = textOf(data)
      const etag = `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`
      return new KeptBody([...data.headers, 'ETag', etag], etag, Buffer.from(text))
    },
    async withSlots({ at, given, isParsed, metas }, { data, search }, about) {
      const answer = new DataAnswer(context)
      answer.open(200, { ...head, ...(at !== undefined && { at }) }, [...given, ...about])
      for (const id of ids) {
        const isOwn = isParsed && id.endsWith('#page')
        answer.segment(id, { data: data[id], ...(isOwn && { search }) }, metas[id] ?? {})
      }
      await answer.finish()
    },
    sendMade(data) {
      const { status, retryAfter, outcome, redirect } = data
      const isDocument = outcome === 'document'
      const stop: Head | undefined =
        redirect === undefined ? (isDocument ? { document: true } : undefined) : { redirect }
      const body = Buffer.from(textOf(data, stop, isDocument ? undefined : outcome))
      const headers = [...data.headers, ...retryHeaders({ retryAfter })]
      return sendEncoded(context, status, headers, new KeptBody([], '', body))
    },
    refuse(status, headers) {
      if (status >= 500) sendText(context, status, 'Too busy', headers)
      else sendDocumentHead(context, status, headers)
    },
    alone,
  }
}
