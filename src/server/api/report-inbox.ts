/** What the embedded inbox holds, as pages see it. It stands in for the error service where none is configured. */

/** Where something happened. */
export type ReportSide = 'server' | 'browser' | 'elsewhere'

/** Failures that are taken for the same. */
export interface ReportGroup {
  /** Sixteen hexadecimal digits. */
  readonly id: string
  /** Of the newest: type and message. */
  readonly title: string
  /** Of the newest: its route, if it has named one. */
  readonly route: string | undefined
  readonly sides: readonly ReportSide[]
  /** Events that are kept. */
  readonly count: number
  /** When the first and the last of them arrived. Milliseconds since the epoch. */
  readonly firstAt: number
  readonly lastAt: number
}

/** Groups of one page, the one with the newest event first. */
export interface ReportPage {
  readonly groups: readonly ReportGroup[]
  /** The page that it is, from 1: the last one where there are not as many as asked for. */
  readonly page: number
  /** At least 1. */
  readonly pages: number
  /** Groups of all pages. */
  readonly total: number
  /** Envelopes that are kept, those without a failure included. */
  readonly envelopes: number
}

/** One line of a stack. */
export interface ReportFrame {
  /** `''` where it has no name. */
  readonly function: string
  readonly file: string
  /** From 1; `undefined` where it is not known. */
  readonly line: number | undefined
  readonly column: number | undefined
  /** Whether it is the application's own code. */
  readonly inApp: boolean
  /** Whether this is the place in the source, by the map of this build. */
  readonly mapped: boolean
  /** Names the file among those of all builds, where the event says so; not in what is shown. */
  readonly debugId?: string
}

/** What was thrown. */
export interface ReportException {
  readonly type: string
  readonly value: string
  /** The innermost call first. */
  readonly frames: readonly ReportFrame[]
}

/** One event. Every text comes from outside; long ones are cut. */
export interface ReportEvent {
  /** As the SDK has given it; `''` without one. */
  readonly eventId: string
  readonly side: ReportSide
  readonly title: string
  /** `error`, `fatal`, `warning` and so on. */
  readonly level: string
  /** When it happened, by the clock of its sender. Milliseconds since the epoch. */
  readonly at: number | undefined
  /** What was thrown first, and then what it has caused. */
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
  /** Names it in this inbox. */
  readonly id: number
  readonly kind: 'error' | 'transaction'
  readonly side: ReportSide
  readonly title: string
  readonly route: string | undefined
  /** Of an error. */
  readonly group: string | undefined
  /** When it arrived. Milliseconds since the epoch. */
  readonly receivedAt: number
}

/** A group with one of its events. */
export interface ReportDetails {
  readonly group: ReportGroup
  readonly item: ReportItem
  readonly event: ReportEvent
  /** Names the envelope that has brought the event, for `envelope`. */
  readonly envelope: number
  /** The newest events of the group, at most 50. */
  readonly items: readonly ReportItem[]
  /** What else has arrived of the same trace, in the order of arrival, at most 50. */
  readonly trace: readonly ReportItem[]
}

/** The inbox, for reading. Calls throw `DatabaseError` where its file cannot be opened. */
export interface ReportInbox {
  /** @param page from 1. */
  list(page: number): ReportPage
  /**
   * @param item of the group; its newest unless told, or where that has gone.
   * @returns `undefined` where there is no such group any more.
   */
  group(id: string, item?: number): Promise<ReportDetails | undefined>
  /** The bytes of an envelope as it was kept; `undefined` where it has gone. */
  envelope(id: number): Buffer | undefined
}
