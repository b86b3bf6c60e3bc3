/** Bodies written by hand, so that they may break the rules that a proper client keeps. */

/** One part of a multipart body. */
export interface Part {
  /** What stands behind `form-data; ` in its disposition. */
  readonly head?: string
  /** All of its header lines instead, without the last line break. */
  readonly lines?: string
  readonly content: string
}

const BOUNDARY = '----replay'

/** A multipart body, whatever its parts say. */
export function multipart(parts: readonly Part[]): { readonly type: string; readonly body: Buffer } {
  const text = parts.map(({ head, lines, content }) => {
    return `--${BOUNDARY}\r\n${lines ?? `Content-Disposition: form-data; ${head}`}\r\n\r\n${content}\r\n`
  })
  return {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    body: Buffer.from(`${text.join('')}--${BOUNDARY}--\r\n`),
  }
}

const CHUNK_BYTES = 65_536

/**
 * A request whose length nobody knows before its end.
 * @param head request line and headers, each line with its break, without framing and without the empty line.
 */
export function chunked(head: string, body: Uint8Array, chunkBytes = CHUNK_BYTES): Buffer {
  const pieces: Uint8Array[] = [Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`, 'latin1')]
  for (let start = 0; start < body.length; start += chunkBytes) {
    const chunk = body.subarray(start, start + chunkBytes)
    pieces.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  pieces.push(Buffer.from('0\r\n\r\n'))
  return Buffer.concat(pieces)
}
