/** One table of an inspector, as text, so that all inspectors show the same. */
export interface InspectorTable {
  /** Unique among the tables of an inspector. */
  readonly id: string
  readonly title: string
  /** Text before the table. */
  readonly note?: string
  readonly columns: readonly string[]
  readonly rows: readonly InspectorRow[]
  /** Shown instead of a table without rows. */
  readonly empty: string
}

/** One row. */
export interface InspectorRow {
  /** Unique in its table. */
  readonly key: string
  /** One per column. */
  readonly cells: readonly InspectorCell[]
  /** Path of a cached page or layout: an inspector may offer to drop or refetch it. */
  readonly path?: string
}

/** One cell. */
export interface InspectorCell {
  readonly text: string
  /** Set for a path or a key. */
  readonly code?: true
  /** Color of a state; absent for plain text. */
  readonly tone?: InspectorTone
  /** Bars above the text, with a common scale for all rows. */
  readonly phases?: NavigationPhases
  /** The request on the time line of its group. */
  readonly bar?: WaterfallBar
}

/** `good`: fresh or successful; `busy`: in progress; `warn`: stale or unusual; `bad`: failed. */
export type InspectorTone = 'good' | 'busy' | 'warn' | 'bad'

/** Durations of a navigation's phases, relative to the longest navigation: each from 0 to 1. */
export interface NavigationPhases {
  /** Until data, code and styles had loaded. */
  readonly ready: number
  /** React's time until the new page was on screen. */
  readonly commit: number
}

/** A request on the time line of its group: each from 0 to 1. */
export interface WaterfallBar {
  readonly start: number
  /** Until the first byte of the answer. */
  readonly waiting: number
  /** From the first byte to the last one. */
  readonly receiving: number
}

/** A plain cell. */
export function text(content: string, tone?: InspectorTone): InspectorCell {
  return tone === undefined ? { text: content } : { text: content, tone }
}

/** A path or a key. */
export function code(content: string): InspectorCell {
  return { text: content, code: true }
}

/** Whole seconds, rounded down. */
export function seconds(milliseconds: number): string {
  return `${Math.max(0, Math.floor(milliseconds / 1000))} s`
}

/** Whole seconds until a time, rounded up. */
export function secondsUntil(time: number, now: number): string {
  return `${Math.ceil((time - now) / 1000)} s`
}

/** Whole milliseconds. */
export function milliseconds(duration: number): string {
  return `${Math.round(duration)} ms`
}

/** Digits in groups of three. */
export function count(value: number): string {
  return value.toLocaleString('en')
}

/** Bytes in the unit that needs the fewest digits. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`
  return value < 1_000_000 ? `${(value / 1000).toFixed(1)} kB` : `${(value / 1_000_000).toFixed(1)} MB`
}
