import { decodeSegment, encodeSegment } from '../route-segment.ts'
import { escapeUrlText } from '../url-text.ts'

/** A text that a source or a condition has captured under one name. */
export interface Capture {
  /** A list if the source's param or the query's key repeats. */
  readonly value: string | readonly string[]
  /** Text from the path is as written in the URL, still encoded; captures of conditions are plain. */
  readonly encoded: boolean
}

/** Captures by name, the source's first. */
export type Captures = ReadonlyMap<string, Capture>

/** No captures. */
export const NO_CAPTURES: Captures = new Map()

/** The values as a list. */
export function captureParts({ value }: Capture): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

/** The values decoded, for a query or a header. */
export function plainParts(capture: Capture): readonly string[] {
  const parts = captureParts(capture)
  return capture.encoded ? parts.map((part) => decodeSegment(part) ?? part) : parts
}

/**
 * The values as text for a path: encoded ones unchanged, plain ones encoded so that they cannot begin another segment.
 */
export function pathParts(capture: Capture): readonly string[] {
  const parts = captureParts(capture)
  if (!capture.encoded) return parts.map((part) => encodeSegment(part.toWellFormed()))
  return parts.map((part) => escapeUrlText(part).replaceAll('?', '%3F').replaceAll('#', '%23'))
}
