/**
 * Cached values are kept as text, so that no caller can change a value for others, and fresh and cached values are
 * equal. The text is `j` and JSON where JSON suffices, which parses several times as fast; otherwise `v` and a value
 * stream without promises.
 */
import { createValueDecoder } from '../../../shared/protocol/decode-values.ts'
import { isJsonValue } from '../../../shared/protocol/hydration-data.ts'
import { findLostValue } from '../../../shared/protocol/lost-values.ts'
import { ignoreRejections } from '../../values/find-promises.ts'
import { createFrameWriter } from '../../../shared/protocol/value-frames.ts'
import { shownKey } from './cached-read.ts'

/** A value that cannot be kept. */
export class UncacheableValueError extends Error {
  override readonly name = 'UncacheableValueError'
}

/**
 * @param name of the value, for the message.
 * @throws {UncacheableValueError} for a value that contains a promise; outside production also for functions, class
 * instances and other values that would not survive the cache.
 */
export function valueToText(name: string, made: unknown): string {
  const value = ignoreRejections(made)
  if (process.env['NODE_ENV'] !== 'production') {
    const lost = findLostValue(value)
    if (lost !== undefined) throw refused(name, `${lost.path === '' ? '' : `${lost.path}: `}${lost.what}`)
  }
  if (isJsonValue(value)) return `j${JSON.stringify(value)}`
  const { text, promises } = createFrameWriter()('', value)
  if (promises.length > 0) {
    // Nobody else handles these promises, and an unhandled rejection ends the process.
    for (const [, promise] of promises) void Promise.resolve(promise).then(undefined, () => undefined)
    throw refused(name, 'a promise; await it')
  }
  return `v${text}`
}

/** @throws {Error} for a text that `valueToText` does not write. */
export function textToValue(text: string): unknown {
  if (text.startsWith('j')) return JSON.parse(text.slice(1))
  const decoder = createValueDecoder()
  const root = text.startsWith('v') ? decoder.push(text.slice(1)) : undefined
  decoder.end()
  return root?.value
}

function refused(name: string, what: string): UncacheableValueError {
  return new UncacheableValueError(
    `The value of cached(${shownKey(name)}) holds ${what}. Return plain values, or only the parts that are needed`,
  )
}
