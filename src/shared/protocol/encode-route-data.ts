import { createValueEncoder, type AbortSignalLike, type PublicReason } from './encode-values.ts'
import { isJsonValue } from './hydration-data.ts'
import type { HtmlForm } from './value-frames.ts'
import {
  ROUTE_DATA_VERSION,
  type RouteDataHead,
  type RouteDataOutcome,
  type RouteDataRecord,
  type RouteDataRedirect,
  type SegmentMeta,
  type SegmentValues,
} from './route-data.ts'

/** Writes one answer. Records are written in the order of the calls; `head` is the first, `finish` the last. */
export interface RouteDataWriter {
  /** Writes the first record. */
  head(head: Omit<RouteDataHead, 'v'>): void
  /**
   * Writes a segment, and follows the promises in its values.
   * @param id `<key>#layout` or `<key>#page`; each one once.
   * @param isUntold whether the data depends on more than `meta` says; asked once all its promises are settled.
   * @throws errors of a getter or a `toJSON` of the values; nothing of the segment has been written then.
   */
  segment(id: string, values: SegmentValues, meta: SegmentMeta, isUntold?: () => boolean): void
  /** Writes which fallback replaces the page. */
  outcome(outcome: RouteDataOutcome): void
  /** Writes for which sessions the answer is made, if the head lacks some. */
  sessions(marks: string): void
  /** Writes a redirect to another page. */
  redirect(redirect: RouteDataRedirect): void
  /**
   * Waits for all deferred values and writes the last record.
   * @returns resolves without that record if the signal ended the answer; rejects with errors of `write`.
   */
  finish(): Promise<void>
}

/** A segment that is kept for several answers: its line, or the frames of values that JSON cannot represent. */
export type KeptSegment = string | (SegmentMeta & { readonly segment: string; readonly frames: readonly KeptFrame[] })

/** A frame, or the text of HTML in the next one. */
type KeptFrame = string | { readonly mark: number; readonly html: string }

const DEFAULT_LIFETIME_S = 60 // how long data is fresh unless a loader says otherwise; omitted from the record
const CHUNK_LENGTH = 65_536 // characters; between the chunks of a large value, other segments can be sent

/**
 * Creates the writer of one answer; `route-data.ts` describes the format.
 * @param write receives each line, with its newline.
 * @param signal ends the answer: nothing is written after it, and `finish` resolves.
 * @param publicReason what the browser learns about a deferred value that has failed or cannot be encoded; default:
 * only that there was an error.
 */
export function createRouteDataWriter(
  write: (line: string) => void,
  signal: AbortSignalLike,
  publicReason?: PublicReason,
): RouteDataWriter {
  const streams: Promise<void>[] = []
  let isDone = false
  const put = (record: RouteDataRecord): void => {
    if (!signal.aborted && !isDone) write(lineOf(record))
  }
  return {
    head: (head) => put({ v: ROUTE_DATA_VERSION, ...head }),
    segment(segment, given, meta, isUntold) {
      const values = statedValues(given)
      if (isJsonValue(values)) return put({ segment, ...values, ...statedMeta(meta) })
      const { formOf, framesWith } = htmlAside()
      const encoder = createValueEncoder(values, publicReason, formOf)
      const stream = streams.length
      const putChunks = (frame: string): void =>
        framesWith(frame)
          .flatMap((one) => chunksOf(stream, one))
          .forEach(put)
      put({ segment, stream, ...statedMeta(meta) })
      putChunks(encoder.root)
      const over = encoder
        .follow(putChunks, signal)
        .then(() => put({ end: stream, ...(isUntold?.() && { lifetime: 0 }) }))
      over.catch(() => undefined) // `finish` handles it
      streams.push(over)
    },
    outcome: (outcome) => put({ outcome }),
    sessions: (sessions) => put({ sessions }),
    redirect: (redirect) => put({ redirect }),
    async finish() {
      await Promise.all(streams)
      put({ done: true })
      isDone = true
    },
  }
}

/**
 * Encodes a segment for several answers, once nothing in it is pending.
 * @param signal ends it early: the result is incomplete then.
 * @param publicReason as in `createRouteDataWriter`.
 * @returns rejects with errors of a getter or a `toJSON` of the values.
 */
export async function keepSegment(
  { segment, meta }: { readonly segment: string; readonly meta: SegmentMeta },
  given: SegmentValues,
  signal: AbortSignalLike,
  publicReason: PublicReason,
): Promise<KeptSegment> {
  const values = statedValues(given)
  if (isJsonValue(values)) return lineOf({ segment, ...values, ...statedMeta(meta) })
  const { formOf, framesWith } = htmlAside()
  const encoder = createValueEncoder(values, publicReason, formOf)
  const frames = [...framesWith(encoder.root)]
  await encoder.follow((frame) => void frames.push(...framesWith(frame)), signal)
  return { segment, ...statedMeta(meta), frames }
}

/** The first line of an answer, for one that decides it after its records. */
export function routeDataHead(head: Omit<RouteDataHead, 'v'>): string {
  return lineOf({ v: ROUTE_DATA_VERSION, ...head })
}

/** A whole answer. */
export function routeDataOf(
  head: Omit<RouteDataHead, 'v'>,
  segments: readonly KeptSegment[],
  outcome?: RouteDataOutcome,
): string {
  let text = routeDataHead(head)
  let stream = 0
  for (const kept of segments) {
    if (typeof kept === 'string') text += kept
    else {
      const { frames, ...record } = kept
      text += lineOf({ ...record, stream })
      for (const frame of frames) text += chunksOf(stream, frame).map(lineOf).join('')
      text += lineOf({ end: stream })
      stream += 1
    }
  }
  return text + (outcome === undefined ? '' : lineOf({ outcome })) + lineOf({ done: true })
}

function lineOf(record: RouteDataRecord): string {
  return `${JSON.stringify(record)}\n`
}

/** HTML of one stream gets records of its own: inside of a frame its text would be escaped twice. */
function htmlAside(): { readonly formOf: HtmlForm; readonly framesWith: (frame: string) => readonly KeptFrame[] } {
  const texts: KeptFrame[] = []
  let count = 0
  return {
    formOf({ text: html }) {
      const mark = count
      count += 1
      texts.push({ mark, html })
      return [null, mark]
    },
    framesWith: (frame) => [...texts.splice(0), frame],
  }
}

function chunksOf(chunk: number, frame: KeptFrame): readonly RouteDataRecord[] {
  if (typeof frame !== 'string') return [{ chunk, ...frame }]
  const chunks: RouteDataRecord[] = []
  for (let start = 0; start < frame.length; start += CHUNK_LENGTH) {
    chunks.push({ chunk, text: frame.slice(start, start + CHUNK_LENGTH) })
  }
  return chunks
}

function statedValues({ data, search }: SegmentValues): SegmentValues {
  return { ...(data === undefined ? {} : { data }), ...(search === undefined ? {} : { search }) }
}

/** The non-default members. */
function statedMeta({ uses = [], lifetime = DEFAULT_LIFETIME_S, tags = [] }: SegmentMeta): SegmentMeta {
  return {
    ...(uses === true || uses.length > 0 ? { uses } : {}),
    ...(lifetime === DEFAULT_LIFETIME_S ? {} : { lifetime }),
    ...(tags.length > 0 ? { tags } : {}),
  }
}
