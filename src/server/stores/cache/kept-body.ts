import { encodeWhole, type Encoding } from '../../http/content-encoding.ts'
import type { DocumentExtras, Extra } from './document-extras.ts'

/** A coding of a body, and its place among the extras. */
interface Coded {
  readonly body: Buffer
  extra?: Extra | undefined
}

/** Who asks for a coding, and where it is kept. */
interface Keeper {
  readonly extras: DocumentExtras
  /** Of the client. */
  readonly address: string
}

/** Holds nothing else: what is kept of a document that is gone must be no more than is counted. */
function forgetIn(coded: Map<Encoding, Coded>, encoding: Encoding): () => void {
  return () => void coded.delete(encoding)
}

/** One of the answers that a kept document gives: the document, or the data of some of its segments. */
export class KeptBody {
  readonly headers: readonly string[]
  readonly etag: string
  /** Without a coding. */
  readonly plain: Buffer
  /** In codings that are there already. */
  readonly #coded: Map<Encoding, Coded>
  readonly #coding = new Map<Encoding, Promise<Buffer>>()

  /** @param same a body with the same content, whose codings it shares. */
  constructor(headers: readonly string[], etag: string, plain: Buffer, same?: KeptBody) {
    this.headers = headers
    this.etag = etag
    this.plain = same?.plain ?? plain
    this.#coded = same === undefined ? new Map<Encoding, Coded>() : same.#coded
  }

  /** Adds a coding in which it was sent. */
  add(encoding: Encoding, body: Buffer, keeper?: Keeper): void {
    if (this.#coded.has(encoding)) return
    const coded: Coded = { body }
    this.#coded.set(encoding, coded)
    coded.extra = keeper?.extras.add(body.length, keeper.address, forgetIn(this.#coded, encoding))
  }

  /**
   * The body in a coding. A promise only if the coding is not there.
   * @param keeper absent for a body that is not kept itself.
   */
  in(encoding: Encoding | undefined, keeper?: Keeper): Buffer | Promise<Buffer> {
    if (encoding === undefined) return this.plain
    const coded = this.#coded.get(encoding)
    if (coded === undefined) return this.#coding.get(encoding) ?? this.#encode(encoding, keeper)
    if (coded.extra !== undefined) keeper?.extras.use(coded.extra)
    return coded.body
  }

  #encode(encoding: Encoding, keeper: Keeper | undefined): Promise<Buffer> {
    const made = encodeWhole(encoding, this.plain)
      .then((body) => {
        this.add(encoding, body, keeper)
        return body
      })
      .finally(() => this.#coding.delete(encoding))
    this.#coding.set(encoding, made)
    return made
  }
}
