import { EventEmitter } from 'node:events'
import type { BodyStream } from '../../request/answer/body-stream.ts'
import { DOCUMENT_END, headStart } from './document-markup.ts'

/** The runtime's additions to React's document. */
interface SinkAdditions {
  /** Tags for the start of the head. */
  readonly head: string
  /** Markup after the shell: hydration data and bootstrap script. Called once, and what it adds follows. */
  tail(shell: Buffer): string
  /** Elements that belong before the next flush; the first are put into the head. */
  before(): string
  /** Called when the whole document has been written. */
  ended(): void
}

const END = Buffer.from(DOCUMENT_END)
/** The opening tags of html and head with their attributes must fit into this many bytes. */
const HEAD_SEARCH_BYTES = 8_192

/**
 * The writable into which React pipes a streamed document. React writes each flush synchronously and ends it with
 * `flush()`, so between two flushes elements may be added: the runtime's own scripts go there. The closing tags are
 * held back until both React and the hydration data are done.
 *
 * React uses these parts of a writable: `write`, `end`, `destroy`, `flush`, and the events `drain`, `error`, `close`.
 */
export class DocumentSink extends EventEmitter {
  readonly #body: BodyStream
  readonly #additions: SinkAdditions
  #parts: Uint8Array[] = []
  #shellSent = false
  #reactEnded = false
  #addedEnded: boolean
  #waiting: string[] = []
  #over = false
  #flows = false

  /** @param addsLater whether `endAdding` will be called; the document stays open until then. */
  constructor(body: BodyStream, additions: SinkAdditions, addsLater: boolean) {
    super()
    this.#body = body
    this.#additions = additions
    this.#addedEnded = !addsLater
    body.onDrain(() => this.emit('drain'))
  }

  write(chunk: Uint8Array | string): boolean {
    this.#parts.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    return this.#flows || this.#body.hasCapacity()
  }

  /** Sends a shell that was rendered before; `undefined` if the body has it already. Call it first. */
  open(shell: Buffer | undefined): void {
    this.#shellSent = true
    if (shell !== undefined) this.#body.write(shell)
  }

  /**
   * Takes all that React has, however slow the reader is: nothing more is rendered, and what waits here can be counted
   * and cut.
   */
  letFlow(): void {
    this.#flows = true
    this.emit('drain')
  }

  flush(): void {
    if (this.#parts.length === 0 || this.#over) return
    let chunk = this.#parts.length === 1 ? asBuffer(this.#parts[0]) : Buffer.concat(this.#parts)
    this.#parts = []
    if (endsWith(chunk, END)) chunk = chunk.subarray(0, chunk.length - END.length)
    const before = this.#additions.before()
    if (this.#shellSent) {
      if (before !== '') this.#body.write(before)
      if (chunk.length > 0) this.#body.write(chunk)
      return
    }
    const at = headStart(chunk.toString('latin1', 0, HEAD_SEARCH_BYTES))
    const tail = this.#additions.tail(chunk)
    this.#shellSent = true
    const waiting = this.#waiting.join('')
    this.#waiting = []
    this.#body.write(
      Buffer.concat([
        chunk.subarray(0, at),
        Buffer.from(this.#additions.head + before),
        chunk.subarray(at),
        Buffer.from(tail + waiting),
      ]),
    )
  }

  end(): void {
    this.flush()
    this.#reactEnded = true
    this.#finish()
  }

  destroy(_error?: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#body.destroy()
  }

  /** Adds an element between two of React's flushes, after the shell. */
  add(markup: string): void {
    if (this.#over) return
    if (this.#shellSent) this.#body.write(markup)
    else this.#waiting.push(markup)
  }

  /** Nothing more will be added. */
  endAdding(): void {
    this.#addedEnded = true
    this.#finish()
  }

  #finish(): void {
    if (!this.#reactEnded || !this.#addedEnded || this.#over) return
    this.#over = true
    this.#body.write(END)
    this.#body.end()
    this.#additions.ended()
  }
}

function asBuffer(part: Uint8Array | undefined): Buffer {
  return part === undefined ? Buffer.alloc(0) : Buffer.from(part.buffer, part.byteOffset, part.byteLength)
}

function endsWith(chunk: Buffer, end: Buffer): boolean {
  return chunk.length >= end.length && chunk.compare(end, 0, end.length, chunk.length - end.length) === 0
}
