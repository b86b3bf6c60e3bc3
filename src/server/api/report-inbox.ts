/** Types of the embedded inbox as pages see it. It replaces the error service if none is configured. */

/** Where a failure happened. */
export type ReportSide = 'server' | 'browser' | 'elsewhere'

/** Failures that seem to have the same cause. */
export interface ReportGroup {
  /** Sixteen hexadecimal digits. */
  readonly id: string
  /** Type and message of the newest event. */
  readonly title: string
  /** Route of the newest event, if known. */
  readonly route: string | undefined
  /** Level of the newest event: `error`, `fatal`, `warning` and so on. */
  readonly level: string
  readonly sides: readonly ReportSide[]
  /** Releases of the first and the newest stored event, where they are known; one if they are the same. */
  readonly releases: readonly string[]
  /** Number of stored events. */
  readonly count: number
  /** Arrival of the first and the last of them. Milliseconds since the epoch. */
  readonly firstAt: number
  readonly lastAt: number
  /** Id of the newest event; in a filtered list, of the newest that fits. */
  readonly item: number
}

/** Which groups a list has: those with an event that fits everything that is set. */
export interface ReportFilter {
  readonly side?: ReportSide | undefined
  readonly release?: string | undefined
  /** `error`, `fatal`, `warning` and so on. */
  readonly level?: string | undefined
  /**
   * A digest, or the id of an event or a trace; otherwise up to four words that title and route contain. At most 200
   * characters count.
   */
  readonly text?: string | undefined
}

/** Groups of one page, the one with the newest event first. */
export interface ReportPage {
  readonly groups: readonly ReportGroup[]
  /** Number of this page, from 1; the last page if the requested one does not exist. */
  readonly page: number
  /** At least 1. */
  readonly pages: number
  /** Groups of all pages, those that the filter leaves out excluded. */
  readonly total: number
  /** Number of stored envelopes, those without a failure included. */
  readonly envelopes: number
}

/** One line of a stack. */
export interface ReportFrame {
  /** `''` for an anonymous function. */
  readonly function: string
  readonly file: string
  /** From 1; `undefined` if unknown. */
  readonly line: number | undefined
  readonly column: number | undefined
  /** Whether it is the application's own code. */
  readonly inApp: boolean
  /** Whether this is a place in the source, found by this build's source map. */
  readonly mapped: boolean
  /** Identifies the file among those of all builds, if the event contains it; not shown. */
  readonly debugId?: string
}

/** The error. */
export interface ReportException {
  readonly type: string
  readonly value: string
  /** The innermost call first. */
  readonly frames: readonly ReportFrame[]
}

/** One event. All text is from outside; long text is cut. */
export interface ReportEvent {
  /** Set by the SDK; `''` without one. */
  readonly eventId: string
  readonly side: ReportSide
  readonly title: string
  /** `error`, `fatal`, `warning` and so on. */
  readonly level: string
  /** Time by the sender's clock. Milliseconds since the epoch. */
  readonly at: number | undefined
  /** The original exception first, then those that it caused. */
  readonly exceptions: readonly ReportException[]
  readonly digest: string | undefined
  readonly release: string | undefined
  readonly environment: string | undefined
  readonly route: string | undefined
  /** Id of its trace: 32 hexadecimal digits. */
  readonly trace: string | undefined
  readonly url: string | undefined
  readonly tags: readonly (readonly [name: string, value: string])[]
}

/** An event or a transaction among others. */
export interface ReportItem {
  /** Identifies it in this inbox. */
  readonly id: number
  readonly kind: 'error' | 'transaction'
  readonly side: ReportSide
  readonly title: string
  readonly route: string | undefined
  /** Set for an error. */
  readonly group: string | undefined
  /** Time of arrival. Milliseconds since the epoch. */
  readonly receivedAt: number
}

/** A group with one of its events. */
export interface ReportDetails {
  readonly group: ReportGroup
  readonly item: ReportItem
  readonly event: ReportEvent
  /** Id of the event's envelope, for `envelope`. */
  readonly envelope: number
  /** The newest events of the group, at most 50. */
  readonly items: readonly ReportItem[]
  /** Other items of the same trace, in the order of arrival, at most 50. */
  readonly trace: readonly ReportItem[]
}

/** Read access to the inbox. Calls throw `DatabaseError` if its file cannot be opened. */
export interface ReportInbox {
  /**
   * Groups of one page. Filters and words are compared with the newest 10,000 events, an id with the newest 1,000 that have it.
   * @param page from 1.
   * @param filter default: all groups.
   */
  list(page: number, filter?: ReportFilter): ReportPage
  /** Releases of the newest 1,000 events: the most frequent first, at most 20. */
  releases(): readonly string[]
  /**
   * @param item of the group; default, also for a deleted item: the newest.
   * @returns `undefined` if the group no longer exists.
   */
  group(id: string, item?: number): Promise<ReportDetails | undefined>
  /** The bytes of an envelope as stored; `undefined` if it no longer exists. */
  envelope(id: number): Buffer | undefined
}
