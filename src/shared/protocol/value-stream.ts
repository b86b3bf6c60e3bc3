/**
 * Values that JSON cannot say, as text. `encode-values` writes it, `decode-values` reads it; it has no version of its
 * own, that of the format around it counts (`HYDRATION_DATA_VERSION`, `ROUTE_DATA_VERSION`).
 *
 * The text is a stream of frames, each one line of JSON. A frame brings nodes: values with an identity or without a form
 * in JSON. Nodes are numbered from 0 through all frames, in the order in which they stand. A member is what stands
 * inside a node: a JSON primitive is itself, anything else is `[number]` of its node, and `[-1]` and below are the
 * `CONSTANTS`. So objects that are met twice, cycles and any depth need no special case, on neither side.
 *
 * The first frame is `[member, ...nodes]`, the root. Each other is `[promise, kept, member, ...nodes]`: the promise with
 * that number is fulfilled (`kept` is 1) or rejected (0) with the member.
 *
 * | node                              | stands for                                                             |
 * |-----------------------------------|------------------------------------------------------------------------|
 * | `{"key": member}`                 | a plain object                                                         |
 * | `["", ...members]`                | an array                                                               |
 * | `["Map", key, value, ...]`        | a Map; keys and values are members                                     |
 * | `["Set", ...members]`             | a Set                                                                  |
 * | `["Promise"]`                     | a promise; a later frame settles it                                    |
 * | `["Date", milliseconds]`          | a Date; `null` for an invalid one                                      |
 * | `["URL", href]`                   | a URL                                                                  |
 * | `["RegExp", source, flags]`       | a regular expression                                                   |
 * | `["BigInt", digits]`              | a bigint                                                               |
 * | `["Symbol", key]`                 | a symbol of the global registry                                        |
 * | `["Error"]`                       | an Error; nothing of it but that it is one                             |
 * | `["Uint8Array", base64]` and such | bytes, as the class of that name in `BYTE_CLASSES`                     |
 */

/** The first element of a node that is an array. */
export type NodeTag = '' | 'Map' | 'Set' | 'Promise' | 'Date' | 'URL' | 'RegExp' | 'BigInt' | 'Symbol' | 'Error'

/** Members without a node: the one at index `n` is written `[-1 - n]`. */
export const CONSTANTS: readonly unknown[] = [undefined, Number.NaN, Infinity, -Infinity, -0]

/** Classes whose instances are bytes. */
export const BYTE_CLASSES = [
  ArrayBuffer,
  DataView,
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
] as const
