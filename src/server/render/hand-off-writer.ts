import {
  encodeValues,
  HAND_OFF_ELEMENT_ID,
  HAND_OFF_GLOBAL,
  HAND_OFF_VERSION,
  isJsonValue,
  type HandOffState,
  type HandOffValues,
} from '../../shared/protocol/hand-off.ts'
import type { RouteView } from '../../client/react/route-view.ts'
import { publicData } from '../load/deferred.ts'
import type { RequestContext } from '../request/context.ts'
import { escapeJson } from './html-escape.ts'

/** What a document says about its data. */
export interface HandOffInput {
  readonly view: RouteView
  /** Key of the matched route. */
  readonly route: string | null
  readonly buildId: string
}

/** The hand-off of one document. */
export interface HandOff {
  /** The script element for the shell; depends on nothing but the answer's content. */
  readonly element: string
  /** Starts the chunks of values that JSON cannot say; absent when the element holds everything. */
  readonly start?: (emit: (script: string) => void) => Promise<void>
}

/** Prepares the hand-off. Rejections reach the browser as digests only. */
export function createHandOff({ view, route, buildId }: HandOffInput, context: RequestContext): HandOff {
  const values: HandOffValues = { search: view.search, data: view.data }
  const plain = isJsonValue(values)
  const state: HandOffState = {
    v: HAND_OFF_VERSION,
    build: buildId,
    route,
    params: view.params,
    ...(view.origin === undefined ? {} : { origin: view.origin }),
    ...(view.outcome === undefined ? {} : { outcome: view.outcome }),
    ...(plain ? { values } : {}),
  }
  const element = `<script type="application/json" id="${HAND_OFF_ELEMENT_ID}">${escapeJson(JSON.stringify(state))}</script>`
  if (plain) return { element }
  return {
    element,
    async start(emit) {
      const visible = { search: values.search, data: publicData(values.data, context) }
      // A render out of time still has its rejections to deliver; only a client that is gone ends the encoding.
      const gone = new AbortController()
      context.onAbort((reason) => {
        if (reason.cause === 'gone') gone.abort(reason)
      })
      const reader = encodeValues(visible, gone.signal).getReader()
      for (;;) {
        const { done, value } = await reader.read()
        emit(pushScript(done ? null : (value ?? ''), context.nonce))
        if (done) return
      }
    },
  }
}

function pushScript(chunk: string | null, nonce: string): string {
  const argument = escapeJson(JSON.stringify(chunk))
  return `<script nonce="${nonce}">(self.${HAND_OFF_GLOBAL}??=[]).push(${argument})</script>`
}
