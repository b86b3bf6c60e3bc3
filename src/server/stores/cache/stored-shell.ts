import type { SegmentMeta } from '../../../shared/protocol/route-data.ts'
import type { GzipStart } from '../../http/gzip-member.ts'

/** What the loaders of a kept shell have returned, without what belongs to visitors. */
export interface StoredValues {
  /**
   * The values, frozen: components and functions `visitor` of all visitors get the same objects, or new ones where a class
   * such as `Map` could be changed all the same.
   */
  read(): StoredPage | Promise<StoredPage>
  /** Numbers of the promises of the slots in the value stream of the hydration data, by segment id. */
  readonly slots: ReadonlyMap<string, number>
  /** Number of the promise of the `LateFacts` there. */
  readonly late: number
  /** Number of the first node that follows in that stream. */
  readonly next: number
  /** About what it takes in memory. */
  readonly bytes: number
}

/** The values of a page that its components get. */
export interface StoredPage {
  readonly search: unknown
  /** By segment id. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A document without what belongs to visitors: each gets it with slots of their own. */
export interface StoredShell {
  /** Up to the end of the hydration data; the bootstrap script, the slots and the closing tags follow. */
  readonly body: Buffer
  /** The same in gzip; `undefined` if it is too small for that. */
  readonly gzip: GzipStart | undefined
  /** State from which React renders the slots, as JSON; `undefined` if no component waits for them. */
  readonly postponed: string | undefined
  readonly values: StoredValues
  /** Marks of the HTML in the values, by hash; see `HtmlMarks`. */
  readonly marks: ReadonlyMap<string, string>
  /** Headers that loaders have set. */
  readonly given: readonly string[]
  /** As `at` in `RouteDataHead`. */
  readonly at: number | undefined
  /** Facts about the values for the browser's cache, by segment id; only for segments with non-default facts. */
  readonly metas: Readonly<Record<string, SegmentMeta>>
  /** Whether a schema has parsed the search params: then they are part of the page's data. */
  readonly isParsed: boolean
  /** Source expressions of the inline scripts in it, for the policy. */
  readonly scripts: readonly string[]
}

/** Of a shell: as much as of the document beside it. */
export const MOST_SHELL_BYTES = 1_048_576

/** About what a shell takes in memory. */
export function shellBytes({ body, gzip, postponed = '', values }: StoredShell): number {
  return body.length + (gzip?.bytes.length ?? 0) + postponed.length + values.bytes
}
