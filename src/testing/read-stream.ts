import type { IncomingMessage } from 'node:http'

/** One part of an answer, as it has arrived. */
export interface StreamPart {
  readonly text: string
  /** Milliseconds since `readStream` was called. */
  readonly at: number
}

/** An answer while it arrives. */
export interface StreamReader extends AsyncDisposable {
  /** What has arrived so far. What the server writes at once may arrive in several parts, and the reverse. */
  readonly parts: readonly StreamPart[]
  /** Their text. */
  readonly text: string
  /**
   * Waits until a text has arrived.
   * @returns everything so far.
   * @throws {StreamError} if the answer ends without it; the reason of the signal.
   */
  until(text: string | RegExp): Promise<string>
  /**
   * Waits for the end.
   * @returns everything.
   */
  end(): Promise<string>
  /** Disconnects, as a visitor who leaves. */
  cancel(): Promise<void>
}

/** Options of `readStream`. */
export interface StreamOptions {
  /** Ends the wait: an endless answer otherwise waits for the test's own limit. */
  readonly signal?: AbortSignal | undefined
  /** At most so many characters are kept, then the reading fails. Default: 16 million. */
  readonly limit?: number | undefined
}

/** An answer that ended too early, or is too long; with what has arrived. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
  readonly text: string

  constructor(fault: string, text: string, options?: ErrorOptions) {
    super(`${fault} It has sent ${text.length} characters: ${JSON.stringify(text.slice(-MOST_QUOTED))}`, options)
    this.text = text
  }
}

const MOST_QUOTED = 500 // the end of an answer that a message shows
const DEFAULT_LIMIT = 16_000_000

/**
 * Reads an answer part by part, as UTF-8.
 * @param answer of `fetch`, or of `http.get`. supertest waits for the end of an answer, so it cannot show its parts.
 */
export function readStream(answer: Response | IncomingMessage, options: StreamOptions = {}): StreamReader {
  return new AnswerReader(answer, options)
}

class AnswerReader implements StreamReader {
  readonly parts: StreamPart[] = []
  text = ''
  readonly #startedAt = performance.now()
  readonly #source: Source
  readonly #limit: number
  readonly #aborted: Promise<never>
  readonly #reading: Promise<void>
  readonly #waiting = new Set<() => void>()
  #isOver = false
  #failure: { readonly thrown: unknown } | undefined = undefined

  constructor(answer: Response | IncomingMessage, { signal, limit = DEFAULT_LIMIT }: StreamOptions) {
    this.#limit = limit
    this.#source = answer instanceof Response ? webSource(answer) : nodeSource(answer)
    this.#aborted = new Promise((_, reject) => {
      const fail = (): void => {
        reject(new StreamError('The wait for the answer was ended.', this.text, { cause: signal?.reason }))
        void this.cancel()
      }
      if (signal?.aborted === true) fail()
      else signal?.addEventListener('abort', fail, { once: true })
    })
    this.#aborted.catch(() => undefined) // nobody may be waiting
    this.#reading = this.#read()
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for (let bytes = await this.#source.next(); bytes !== undefined; bytes = await this.#source.next()) {
        this.#add(decoder.decode(bytes, { stream: true }))
      }
      this.#add(decoder.decode())
    } catch (thrown) {
      this.#failure = { thrown }
    } finally {
      this.#isOver = true
      this.#wake()
    }
  }

  #add(text: string): void {
    if (text === '') return
    this.text += text
    this.parts.push({ text, at: performance.now() - this.#startedAt })
    this.#wake()
    if (this.text.length <= this.#limit) return
    this.#source.cancel()
    throw new StreamError(`The answer is longer than ${this.#limit} characters.`, this.text)
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  async until(wanted: string | RegExp): Promise<string> {
    const isThere = (): boolean =>
      typeof wanted === 'string' ? this.text.includes(wanted) : this.text.search(wanted) >= 0
    while (!isThere()) {
      if (this.#failure !== undefined) throw this.#failure.thrown
      if (this.#isOver) throw new StreamError(`The answer has ended without ${String(wanted)}.`, this.text)
      await Promise.race([new Promise<void>((wake) => this.#waiting.add(wake)), this.#aborted])
    }
    return this.text
  }

  async end(): Promise<string> {
    await Promise.race([this.#reading, this.#aborted])
    if (this.#failure !== undefined) throw this.#failure.thrown
    return this.text
  }

  async cancel(): Promise<void> {
    this.#source.cancel()
    await this.#reading
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cancel()
  }
}

/** Bytes of an answer. */
interface Source {
  /** The next ones; `undefined` at the end. */
  next(): Promise<Uint8Array | undefined>
  /** Disconnects; `next` then gives `undefined`, or fails. */
  cancel(): void
}

function webSource({ body }: Response): Source {
  const reader = body?.getReader()
  return {
    next: async () => (await reader?.read())?.value,
    cancel: () => void reader?.cancel().catch(() => undefined),
  }
}

function nodeSource(message: IncomingMessage): Source {
  const iterator = (message as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  return {
    async next() {
      const { done, value } = await iterator.next()
      return done === true ? undefined : value
    },
    cancel: () => void message.destroy(),
  }
}
