import { HtmlValue } from '../html-value.ts'
import { BYTE_CLASSES, CONSTANTS, type NodeTag } from './value-stream.ts'

/** Decodes one stream of values. After an exception, call `fail` and discard it. */
export interface ValueDecoder {
  /**
   * Takes the next chunk of the text, split anywhere.
   * @returns the values, once: when everything but the contents of promises has arrived.
   * @throws {Error} of any kind, for a text that `createValueEncoder` does not write.
   */
  push(text: string): { readonly value: unknown } | undefined
  /** @throws {Error} if the text is incomplete, or a promise in it is not settled. */
  end(): void
  /** Rejects all open promises. */
  fail(reason: unknown): void
}

/** Converts the server's rejection reason to that of the promise. */
export type Rejection = (reason: unknown) => unknown

/** The text of HTML that is beside the stream, by its mark. */
export type HtmlText = (mark: string | number) => string | undefined

/** Settles a promise: rejects, fulfils. */
type Settle = readonly [reject: (reason: unknown) => void, resolve: (value: unknown) => void]

/**
 * Decodes the text of `createValueEncoder`, in the format of `value-stream.ts`. Rejections of unused promises are
 * handled. Any text gives data or an exception, and has no other effect.
 */
export function createValueDecoder(rejection: Rejection = (reason) => reason, textOf?: HtmlText): ValueDecoder {
  const nodes: unknown[] = []
  const open = new Map<unknown, Settle>()
  const state = { rest: '', rooted: false }

  const memberOf = (member: unknown): unknown => {
    if (typeof member !== 'object' || member === null) return member
    const [number] = member as unknown[]
    const list = typeof number === 'number' && number < 0 ? CONSTANTS : nodes
    const index = list === nodes ? number : -1 - (number as number)
    check(typeof index === 'number' && Object.hasOwn(list, index))
    return list[index]
  }

  const fillNode = (value: unknown, node: object): void => {
    if (value === node) {
      // A parsed object has every key as its own property, even `__proto__`, so no key reaches a prototype.
      const object = node as Record<string, unknown>
      for (const key of Object.keys(object)) object[key] = memberOf(object[key])
      return
    }
    const members = node as unknown[]
    const isSparse = members[0] === 'Sparse'
    for (let index = isSparse ? 2 : 1; index < members.length; index += 1) {
      // Only as a number: no text reaches a prototype.
      if (isSparse) (value as unknown[])[+(members[index] as number)] = memberOf(members[(index += 1)])
      else if (Array.isArray(value)) value.push(memberOf(members[index]))
      else if (value instanceof Set) value.add(memberOf(members[index]))
      else if (value instanceof Map) value.set(memberOf(members[index]), memberOf(members[(index += 1)]))
    }
  }

  const accept = (line: string): ReturnType<ValueDecoder['push']> => {
    const frame: unknown = JSON.parse(line)
    const at = state.rooted ? 2 : 0
    check(Array.isArray(frame) && frame.length > at)
    const [promise, kept] = frame as unknown[]
    const settle = open.get(promise)
    check(at === 0 || (settle !== undefined && (kept === 0 || kept === 1)))
    const first = nodes.length - at - 1
    for (let index = at + 1; index < frame.length; index += 1)
      nodes.push(createNode(frame[index], open, nodes.length, textOf))
    // Only after all nodes of the frame are numbered: members may refer to any of them.
    for (let index = at + 1; index < frame.length; index += 1) fillNode(nodes[first + index], frame[index] as object)
    const value = memberOf(frame[at])
    // The encoder never settles a promise with a promise, which could wait for itself.
    check(!(value instanceof Promise) || kept === 0)
    if (settle === undefined) {
      state.rooted = true
      return { value }
    }
    open.delete(promise)
    settle[kept as 0 | 1](kept ? value : rejection(value))
    return undefined
  }

  return {
    push(text) {
      let root: ReturnType<ValueDecoder['push']>
      let start = 0
      for (let end = 0; (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
        const line = state.rest + text.slice(start, end)
        state.rest = ''
        root = accept(line) ?? root
      }
      state.rest += text.slice(start)
      return root
    },
    end() {
      if (state.rest !== '' || !state.rooted || open.size > 0) throw new Error('The values are not complete')
    },
    fail(reason) {
      for (const [reject] of open.values()) reject(reason)
      open.clear()
    },
  }
}

/** A node without its members. A promise is added to `open` under its number. */
function createNode(node: unknown, open: Map<unknown, Settle>, number: number, textOf?: HtmlText): unknown {
  if (!Array.isArray(node)) {
    check(typeof node === 'object' && node !== null)
    return node
  }
  const [tag, content, flags] = node as [NodeTag, string, string]
  switch (tag) {
    case '':
      return []
    case 'Sparse': {
      const list: unknown[] = []
      list.length = content as never
      return list
    }
    case 'Map':
      return new Map()
    case 'Set':
      return new Set()
    case 'Promise': {
      const promise = new Promise((resolve, reject) => open.set(number, [reject, resolve]))
      promise.catch(() => undefined) // an unused promise must not become an unhandled rejection
      return promise
    }
    case 'Date':
      return new Date(content ?? Number.NaN)
    case 'URL':
      return new URL(content)
    case 'RegExp':
      return new RegExp(content, flags)
    case 'BigInt':
      return BigInt(content)
    case 'Symbol':
      return Symbol.for(content)
    case 'Error':
      return new Error('Redacted')
    case 'Html':
      return htmlOf(node, textOf)
    default:
      return bytesOf(tag, content)
  }
}

/** A stream of values to which chunks are pushed. Calls after its end have no effect. */
interface IncomingValues<Values> {
  /**
   * Resolves when everything but the contents of promises has arrived. Rejects with the failure of the stream, or an
   * Error for an incomplete or malformed text; open promises in the values reject with the same.
   */
  readonly values: Promise<Values>
  /** Takes the next chunk of the text; `null` ends it. */
  push(chunk: string | null): void
  fail(reason: unknown): void
}

/** Decodes a stream whose chunks are pushed. */
export function receiveValues<Values>(rejection?: Rejection, textOf?: HtmlText): IncomingValues<Values> {
  const decoder = createValueDecoder(rejection, textOf)
  let open = true
  let settle: readonly [resolve: (values: Values) => void, reject: (reason: unknown) => void]
  const values = new Promise<Values>((...both) => (settle = both))
  const fail = (reason: unknown): void => {
    if (!open) return
    open = false
    decoder.fail(reason)
    settle[1](reason)
  }
  const push = (chunk: string | null): void => {
    if (!open) return
    try {
      if (chunk === null) {
        decoder.end()
        open = false
      } else {
        const root = decoder.push(chunk)
        if (root) settle[0](root.value as Values)
      }
    } catch (reason) {
      fail(reason)
    }
  }
  return { values, push, fail }
}

function htmlOf([, hash, text, mark]: readonly unknown[], textOf?: HtmlText): HtmlValue {
  const found = text ?? textOf?.(mark as string)
  check(typeof found === 'string')
  return new HtmlValue(found, hash as string, typeof mark === 'string' ? mark : undefined)
}

function bytesOf(tag: string, base64: string): unknown {
  const Class = BYTE_CLASSES.find(({ name }) => name === tag)
  check(Class !== undefined)
  const { buffer } = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return Class === ArrayBuffer ? buffer : new (Class as Uint8ArrayConstructor)(buffer)
}

function check(condition: boolean): asserts condition {
  if (!condition) throw new Error('The values are malformed')
}
