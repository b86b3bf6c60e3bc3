import { encodeWhole, type Encoding } from '../../http/content-encoding.ts'

/** One of the answers that a kept document gives: the document, or the data of some of its segments. */
export class KeptBody {
  readonly headers: readonly string[]
  readonly etag: string
  /** Without a coding. */
  readonly plain: Buffer
  /** In codings that are there already. */
  readonly encoded: Map<Encoding, Buffer>
  readonly #encoding = new Map<Encoding, Promise<Buffer>>()

  constructor(headers: readonly string[], etag: string, plain: Buffer, encoded?: ReadonlyMap<Encoding, Buffer>) {
    this.headers = headers
    this.etag = etag
    this.plain = plain
    this.encoded = new Map(encoded)
  }

  /** Of all codings. */
  get bytes(): number {
    let bytes = this.plain.length
    for (const { length } of this.encoded.values()) bytes += length
    return bytes
  }

  /**
   * The body in a coding; encoded once. A promise only at the first use of a coding.
   * @param onEncoded called when it has grown by a coding.
   */
  in(encoding: Encoding | undefined, onEncoded: () => void): Buffer | Promise<Buffer> {
    if (encoding === undefined) return this.plain
    return this.encoded.get(encoding) ?? this.#encoding.get(encoding) ?? this.#encode(encoding, onEncoded)
  }

  #encode(encoding: Encoding, onEncoded: () => void): Promise<Buffer> {
    const made = encodeWhole(encoding, this.plain)
      .then((body) => {
        this.encoded.set(encoding, body)
        onEncoded()
        return body
      })
      .finally(() => this.#encoding.delete(encoding))
    this.#encoding.set(encoding, made)
    return made
  }
}
