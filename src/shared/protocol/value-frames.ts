import { HtmlValue } from '../html-value.ts'
import { BYTE_CLASSES, CONSTANTS, type NodeTag } from './value-stream.ts'

/** One frame. */
export interface Frame {
  /** With its newline. */
  readonly text: string
  /** The promises that first appear in this frame, with their numbers. */
  readonly promises: readonly OpenPromise[]
  /** Number of the next frame's first node. */
  readonly next: number
}

/** A promise whose frame follows, with the number of its node. */
export type OpenPromise = readonly [number: number, promise: PromiseLike<unknown>]

/** Returns `[number]` of a value's node. */
type Numbering = (value: unknown) => string

/**
 * How HTML is written: its text, or `null` if that is beside the stream; then its mark. A mark that is a text names the
 * element of a document.
 */
export type HtmlForm = (value: HtmlValue) => readonly [text: string | null, mark?: string | number | undefined]

const inPlace: HtmlForm = ({ text }) => [text]

/**
 * Creates the writer of the frames of one stream.
 * @param before nodes that another writer has numbered: this one continues its stream.
 * @param formOf default: with its text.
 * @returns a function of the text before the member, and the member's value. It throws errors of a getter or a `toJSON`
 * of the value, and then the stream is as if the frame had never begun.
 */
export function createFrameWriter(before = 0, formOf = inPlace): (start: string, value: unknown) => Frame {
  /** Bound: the objects of one stream, for its lifetime. */
  const numbers = new Map<unknown, number>()

  return (start, value) => {
    const nodes: unknown[] = []
    const numberOf: Numbering = (node) => {
      let number = numbers.get(node)
      if (number === undefined) {
        number = before + numbers.size
        numbers.set(node, number)
        nodes.push(node)
      }
      return `[${number}]`
    }
    try {
      const first = before + numbers.size
      const promises: OpenPromise[] = []
      const parts = [start + memberText(value, numberOf)]
      // The list grows while its nodes are written. A list instead of recursion: depth costs no stack.
      for (let index = 0; index < nodes.length; index += 1) {
        const node = nodes[index]
        if (isPromiseLike(node)) promises.push([first + index, node])
        parts.push(node instanceof HtmlValue ? htmlText(node, formOf) : nodeText(node, numberOf))
      }
      return { text: `[${parts.join(',')}]\n`, promises, next: before + numbers.size }
    } catch (thrown) {
      for (const node of nodes) numbers.delete(node)
      throw thrown
    }
  }
}

function memberText(value: unknown, numberOf: Numbering): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? String(value) : constantText(value)
    case 'bigint':
      return numberOf(value)
    case 'symbol':
      return Symbol.keyFor(value) === undefined ? constantText(undefined) : numberOf(value)
    case 'object': {
      if (value === null) return 'null'
      if (tagOf(value) !== undefined || !('toJSON' in value) || typeof value.toJSON !== 'function') {
        return numberOf(value)
      }
      const form: unknown = value.toJSON()
      // As in JSON, the result of `toJSON` is not converted again.
      return typeof form === 'object' && form !== null ? numberOf(form) : memberText(form, numberOf)
    }
    default:
      return constantText(undefined)
  }
}

function htmlText(node: HtmlValue, formOf: HtmlForm): string {
  return tagged(
    'Html',
    [node.hash, ...formOf(node)].flatMap((part) => (part === undefined ? [] : JSON.stringify(part))),
  )
}

function constantText(value: unknown): string {
  return `[${-1 - CONSTANTS.findIndex((constant) => Object.is(constant, value))}]`
}

function nodeText(node: unknown, numberOf: Numbering): string {
  const textOf = (member: unknown): string => memberText(member, numberOf)
  if (typeof node === 'bigint') return tagged('BigInt', [`"${node}"`])
  if (typeof node === 'symbol') return tagged('Symbol', [JSON.stringify(Symbol.keyFor(node))])
  const tag = tagOf(node as object)
  switch (tag) {
    case undefined:
      return `{${Object.entries(node as object)
        .map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`)
        .join(',')}}`
    case '':
      return listText(node as unknown[], textOf)
    case 'Set':
      return tagged(tag, Array.from(node as Set<unknown>, textOf))
    case 'Map':
      return tagged(
        tag,
        Array.from(node as Map<unknown, unknown>, (entry) => entry.map(textOf).join()),
      )
    case 'Date':
      return tagged(tag, [JSON.stringify((node as Date).getTime())])
    case 'URL':
      return tagged(tag, [JSON.stringify((node as URL).href)])
    case 'RegExp':
      return tagged(
        tag,
        [(node as RegExp).source, (node as RegExp).flags].map((text) => JSON.stringify(text)),
      )
    case 'Promise':
    case 'Error':
      return tagged(tag, [])
    default:
      return tagged(tag, [`"${base64Of(node as ArrayBuffer | ArrayBufferView)}"`])
  }
}

/** Costs what the members cost: one hole may stand for billions. */
function listText(list: readonly unknown[], textOf: (member: unknown) => string): string {
  if (!isSparse(list)) return tagged('', Array.from(list, textOf))
  const members = Object.entries(list).flatMap(([key, member]) => (isIndex(key) ? [key, textOf(member)] : []))
  return tagged('Sparse', [String(list.length), ...members])
}

/** Whether a list has a hole. Ends at the first one. */
export function isSparse(list: readonly unknown[]): boolean {
  for (let index = 0; index < list.length; index += 1) if (!(index in list)) return true
  return false
}

/** Whether a key of a list is that of a member. Source: ECMA-262, "array index". */
export function isIndex(key: string): boolean {
  const index = Number(key) >>> 0
  return String(index) === key && index < 2 ** 32 - 1
}

type ByteTag = (typeof BYTE_CLASSES)[number]['name']

function tagged(tag: NodeTag | ByteTag, parts: readonly string[]): string {
  return `["${tag}"${parts.length === 0 ? '' : ','}${parts.join(',')}]`
}

/** The tag of a node; `undefined` for a plain object, and for objects that are treated as plain. */
export function tagOf(node: object): NodeTag | ByteTag | undefined {
  const prototype: unknown = Object.getPrototypeOf(node)
  // First, because most nodes are arrays or plain objects, and need no lookup.
  if (Array.isArray(node)) return ''
  if (isPromiseLike(node)) return 'Promise'
  if (prototype === Object.prototype || prototype === null) return undefined
  if (node instanceof Date) return 'Date'
  if (node instanceof Map) return 'Map'
  if (node instanceof Set) return 'Set'
  if (node instanceof URL) return 'URL'
  if (node instanceof RegExp) return 'RegExp'
  if (node instanceof Error) return 'Error'
  if (node instanceof HtmlValue) return 'Html'
  return BYTE_CLASSES.find((candidate) => node instanceof candidate)?.name
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

const BYTES_AT_ONCE = 8_192 // arguments of one call; engines stop at some tens of thousands

function base64Of(node: ArrayBuffer | ArrayBufferView): string {
  const bytes = ArrayBuffer.isView(node)
    ? new Uint8Array(node.buffer, node.byteOffset, node.byteLength)
    : new Uint8Array(node)
  let binary = ''
  for (let start = 0; start < bytes.length; start += BYTES_AT_ONCE) {
    binary += String.fromCharCode(...bytes.subarray(start, start + BYTES_AT_ONCE))
  }
  return btoa(binary)
}
