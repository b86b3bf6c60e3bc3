import {
  HYDRATION_DATA_ELEMENT_ID,
  HYDRATION_DATA_GLOBAL,
  HYDRATION_DATA_VERSION,
  isJsonValue,
  type HydrationState,
  type HydrationValues,
  type RejectedValue,
} from '../../../shared/protocol/hydration-data.ts'
import { continueValues, createValueEncoder, type LaterFrames } from '../../../shared/protocol/encode-values.ts'
import { createFrameWriter, type OpenPromise } from '../../../shared/protocol/value-frames.ts'
import type { SegmentMeta } from '../../../shared/protocol/route-data.ts'
import { HtmlValue } from '../../../shared/html-value.ts'
import { layoutId, shownChain, type RouteView } from '../../../client/react/route-view.ts'
import type { HtmlMarks } from './html-marks.ts'
import { refuseLostValues } from '../load/lost-value-error.ts'
import type { RequestContext } from '../../request/context.ts'
import { lateSessions } from '../../request/noted-sessions.ts'
import { documentCaching } from '../../request/answer/caching.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { escapeJson } from '../../request/answer/escape-json.ts'

/** The hydration data of one document. */
export interface HydrationData {
  /** The script element for the shell; depends only on the answer's content. */
  readonly element: string
  /**
   * Starts the chunks of values that JSON cannot represent; absent if the element contains everything.
   * @param markup of the document, up to its hydration data. Default: nothing, as if it showed no HTML of the values.
   */
  readonly start?: (emit: (script: string) => void, markup?: string) => Promise<void>
  /** The element with all values; present if HTML is the only one that JSON cannot represent. */
  readonly settled?: (markup?: string) => string
  /**
   * The element with all values, once nothing is pending: for a document without scripts of its own. Absent as `start`.
   * @throws {RequestAborted} if one is rejected, because all visitors would get that.
   */
  readonly complete?: (markup?: string) => Promise<string>
  /** The element with these chunks of the values; more may follow as scripts. */
  readonly withChunks: (chunks: readonly string[]) => string
}

/** Facts about loader data for the browser's route cache, by segment id. */
type Metas = Readonly<Record<string, SegmentMeta>>

/** Additions to a view's data. */
export interface HydrationExtras {
  /** Only for segments with non-default facts. */
  readonly metas?: Metas | undefined
  /** The state of the form that was posted to the page. */
  readonly posted?: HydrationValues['posted'] | undefined
  /** Of a page whose loader is not done. */
  readonly late?: HydrationValues['late']
  /** What the document shows of the HTML in its values. */
  readonly html?: Pick<HtmlMarks, 'formIn'> | undefined
  /** Of a document that is streamed; its deadline in ms. */
  readonly streamed?: Required<Pick<HydrationState, 'deadline' | 'react'>> | undefined
}

/** Prepares the hydration data of a view. Rejections are sent as digests only. */
type HydrationDataWriter = (
  view: RouteView,
  route: string | null,
  context: RequestContext,
  extras?: HydrationExtras,
) => HydrationData

/** What all documents of an application have in common. */
interface WriterOptions extends Pick<HydrationState, 'scope'> {
  readonly asks?: HydrationState['asks'] | undefined
  /** Whether the documents become files. */
  readonly forFiles?: boolean
}

/** Creates the writer of an application. Text that all documents of a route share is cached. */
export function createHydrationDataWriter(
  buildId: string,
  { scope = 'path', asks, forFiles = false }: WriterOptions = {},
): HydrationDataWriter {
  /** Bound: one entry per route. */
  const starts = new Map<string | null, string>()
  const startOf = (route: string | null): string => {
    let start = starts.get(route)
    if (start === undefined) {
      const fixed: Pick<HydrationState, 'v' | 'build' | 'route' | 'asks' | 'files'> = {
        v: HYDRATION_DATA_VERSION,
        build: buildId,
        route,
        ...(asks && { asks }),
        ...(forFiles && { files: true }),
      }
      start = `<script type="application/json" id="${HYDRATION_DATA_ELEMENT_ID}">${escapeJson(JSON.stringify(fixed).slice(0, -1))}`
      starts.set(route, start)
    }
    return start
  }
  return (view, route, context, extras = {}) => {
    const isForUrl = scope === 'url' || context.audience.guardedByQuery
    const start = startOf(route) + (isForUrl ? member('scope', 'url') : '')
    return createHydrationData(start, view, context, extras)
  }
}

function createHydrationData(
  start: string,
  view: RouteView,
  context: RequestContext,
  extras: HydrationExtras,
): HydrationData {
  const { params, search, data, origin, outcome } = view
  const { metas, posted, streamed, late, html } = extras
  const isForAll = context.making !== undefined
  const own: HydrationValues = { search, data, ...(posted === undefined ? {} : { posted }) }
  const found = { html: false }
  const isSettled =
    late === undefined && isJsonValue(own, 0, undefined, (one) => one instanceof HtmlValue && (found.html = true))
  const plain = isSettled && !found.html
  const facts = late ?? (isSettled || isForAll ? undefined : lateSessions(Object.values(data), context))
  const values = facts === undefined ? own : { ...own, late: facts }
  refuseLostValues(data)
  const isShell = isForAll && streamed !== undefined // each visitor's own follow
  const element =
    start +
    timeMember(view, context) +
    member('params', params) +
    (origin === undefined ? '' : member('origin', origin)) +
    (outcome === undefined ? '' : member('outcome', outcome)) +
    (metas === undefined ? '' : metaMember(metas, view)) +
    (isShell ? '' : sessionMember(view, context, streamed !== undefined)) +
    (streamed === undefined ? '' : member('deadline', streamed.deadline) + member('react', streamed.react)) +
    (plain ? `,"values":{"search":${json(search)},"data":${json(data)}${postedMember(posted)}}` : '') +
    END
  const withChunks = (chunks: readonly string[]): string =>
    `${element.slice(0, -END.length)}${member('chunks', chunks.map(asInHtml))}${END}`
  if (plain) return { element, withChunks }
  return {
    element,
    withChunks,
    ...(isSettled && {
      settled: (markup = '') => withChunks([createFrameWriter(0, html?.formIn(markup))('', values).text]),
    }),
    async complete(markup = '') {
      const rejected = (reason: unknown): RejectedValue => {
        context.making?.note('failed')
        return { digest: reportFailure(reason, context, 'deferred') }
      }
      const encoder = createValueEncoder(values, rejected, html?.formIn(markup))
      const chunks = [encoder.root]
      const gone = new AbortController()
      context.onAbort((reason) => gone.abort(reason))
      await encoder.follow((chunk) => void chunks.push(chunk), gone.signal)
      if (gone.signal.aborted) throw gone.signal.reason
      return withChunks(chunks)
    },
    start(emit, markup = '') {
      const push = (chunk: string | null): void => emit(pushScript(chunk, context.nonce))
      const encoder = createValueEncoder(values, rejectedIn(context), html?.formIn(markup))
      push(encoder.root)
      return followValues(encoder, push, context)
    },
  }
}

/** Starts the chunks of what belongs to the visitor, in a document whose element has those of all other values. */
export function startSlots(
  open: readonly OpenPromise[],
  before: number,
  context: RequestContext,
  html: Pick<HtmlMarks, 'formIn'>,
): NonNullable<HydrationData['start']> {
  return (emit) => {
    const push = (chunk: string | null): void => emit(pushScript(chunk, context.nonce))
    return followValues(continueValues(open, before, rejectedIn(context), html.formIn('')), push, context)
  }
}

function rejectedIn(context: RequestContext): (reason: unknown) => RejectedValue {
  return (reason) => ({ digest: reportFailure(reason, context, 'deferred') })
}

async function followValues(
  encoder: LaterFrames,
  push: (chunk: string | null) => void,
  context: RequestContext,
): Promise<void> {
  const gone = new AbortController()
  const over = encoder.follow(push, gone.signal)
  context.onAbort((reason) => {
    if (reason.cause === 'gone') gone.abort(reason)
    // The abort rejects members within this turn. Values that are open then are deeper, and nobody listens to them.
    else setImmediate(() => setImmediate(() => encoder.giveUp(reason)))
  })
  await over
  if (gone.signal.aborted) throw gone.signal.reason
  push(null)
}

const END = '}</script>'

/** The element without what differs between two documents of equal content. It precedes what visitors have written. */
export function stableHydrationData(element: string, { readAt }: Pick<RequestContext, 'readAt'>): string {
  return readAt === undefined ? element : element.replace(timeText(readAt), '')
}

/** A page without data has nothing that a drop could concern, and is the same on all instances. */
function timeMember({ data, outcome }: RouteView, { readAt }: RequestContext): string {
  const isConcerned = outcome !== undefined || Object.keys(data).length > 0
  return isConcerned && readAt !== undefined ? timeText(readAt) : ''
}

function timeText(readAt: number): string {
  return `,"at":${readAt}`
}

/** Not in a document that caches give to others: a copy would end the sessions in their tabs. */
function sessionMember({ outcome }: RouteView, context: RequestContext, isStreamed: boolean): string {
  const { sessions } = context.audience
  if (sessions === undefined) return ''
  const isShared = !isStreamed && outcome === undefined && documentCaching(context, 200).shared
  return isShared ? '' : member('sessions', sessions.marks)
}

/** Only for shown segments: the browser caches no others. */
function metaMember(metas: Metas, { chain, outcome }: RouteView): string {
  if (outcome === undefined) return member('meta', metas)
  const shown = new Set(shownChain({ chain, outcome }).map(({ key }) => layoutId(key)))
  const entries = Object.entries(metas).filter(([id]) => shown.has(id))
  return entries.length === 0 ? '' : member('meta', Object.fromEntries(entries))
}

function member(name: keyof HydrationState, value: unknown): string {
  return `,"${name}":${json(value)}`
}

function postedMember(posted: HydrationValues['posted']): string {
  return posted === undefined ? '' : `,"posted":${json(posted)}`
}

/** Most pages have neither params nor search, and even serialising an empty object takes time. */
function json(value: unknown): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0)
    return '{}'
  return escapeJson(asInHtml(JSON.stringify(value)))
}

/**
 * Half of a surrogate pair, such as an emoji that was cut through, is U+FFFD in HTML, because UTF-8 has no halves. Hydration
 * would find another text, and React would render the document again.
 * @param text of JSON, which writes halves alone as escapes.
 */
function asInHtml(text: string): string {
  if (!text.includes('\\ud')) return text
  return text.replace(/\\(?:ud[89a-f][\da-f]{2}|[^])/g, (escape) => (escape.startsWith('\\ud') ? '\ufffd' : escape))
}

function pushScript(chunk: string | null, nonce: string): string {
  const argument = escapeJson(JSON.stringify(chunk === null ? null : asInHtml(chunk)))
  // Not by `??=`: an element with this id or name would be taken for the list.
  const list = `Object.hasOwn(self,"${HYDRATION_DATA_GLOBAL}")?${HYDRATION_DATA_GLOBAL}:self.${HYDRATION_DATA_GLOBAL}=[]`
  return `<script nonce="${nonce}">(${list}).push(${argument})</script>`
}
