/**
 * Values that JSON cannot represent, as text. `encode-values` writes it, `decode-values` reads it. It has no version of its
 * own; the version of the surrounding format counts (`HYDRATION_DATA_VERSION`, `ROUTE_DATA_VERSION`).
 *
 * The text is a stream of frames, each one line of JSON. A frame adds nodes: values with an identity, or without a form in
 * JSON. Nodes are numbered from 0 through all frames, in order. A member is a value inside a node: a JSON primitive is
 * itself, anything else is `[number]` of its node, and `[-1]` and below are the `CONSTANTS`. So repeated objects, cycles
 * and any depth need no special case on either side.
 *
 * The first frame is `[member, ...nodes]`, the root. Each other is `[promise, kept, member, ...nodes]`: the promise with
 * that number is fulfilled (`kept` is 1) or rejected (0) with the member.
 *
 * | node                              | meaning                                                                |
 * |-----------------------------------|------------------------------------------------------------------------|
 * | `{"key": member}`                 | a plain object                                                         |
 * | `["", ...members]`                | an array                                                               |
 * | `["Sparse", length, index, member, ...]` | an array with holes; only the members that it has               |
 * | `["Map", key, value, ...]`        | a Map; keys and values are members                                     |
 * | `["Set", ...members]`             | a Set                                                                  |
 * | `["Promise"]`                     | a promise; a later frame settles it                                    |
 * | `["Date", milliseconds]`          | a Date; `null` for an invalid one                                      |
 * | `["URL", href]`                   | a URL                                                                  |
 * | `["RegExp", source, flags]`       | a regular expression                                                   |
 * | `["BigInt", digits]`              | a bigint                                                               |
 * | `["Symbol", key]`                 | a symbol of the global registry                                        |
 * | `["Error"]`                       | an Error, without any details                                          |
 * | `["Html", hash, text, mark]`      | an `HtmlValue`; its text is `null` where it is beside the stream, under this mark |
 * | `["Uint8Array", base64]` and such | bytes, as the class of that name in `BYTE_CLASSES`                     |
 */

/** The first element of a node that is an array. */
export type NodeTag =
  '' | 'Sparse' | 'Map' | 'Set' | 'Promise' | 'Date' | 'URL' | 'RegExp' | 'BigInt' | 'Symbol' | 'Error' | 'Html'

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
