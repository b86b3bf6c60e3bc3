import { BodyError } from './body-error.ts'
import { isUtf8 } from './body-kind.ts'
import { decodeUtf8 } from './body-text.ts'
import { checkFieldName } from './field-name.ts'
import { sentType } from '../media-type.ts'
import { readMediaType, readParameters } from '../header-parameters.ts'

/** The parsed headers of a part. */
export interface PartHead {
  /** Name of the field. */
  readonly name: string
  /** Set for files; `''` for a file field that was left empty. Never a path. */
  readonly filename: string | undefined
  /**
   * Media type without parameters, in lower case; `text/plain` if missing (RFC 7578, section 4.4), and
   * `application/octet-stream` if it is none.
   */
  readonly type: string
}

/** The value includes its leading spaces: two repeats that both match spaces would backtrack quadratically. */
const HEADER = /^([!#$%&'*+.^_`|~0-9a-z-]+):([^\0\r\n]*)$/i

/** Encodings that change nothing. Browsers send no others. */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary'])

/**
 * Parses the headers of a part, without the empty line.
 * @throws {BodyError} 400 for an invalid header, 415 for another character set or encoding.
 */
export function readPartHead(head: Buffer): PartHead {
  const headers = readHeaders(decodeUtf8(head))
  const disposition = readParameters(headers.get('content-disposition') ?? '')
  const name = disposition?.parameters.get('name')
  if (disposition?.value !== 'form-data' || name === undefined) throw new BodyError(400, 'A part that is not a field')
  // Forbidden by RFC 7578, section 4.2: with two names for one file, two readers may choose differently.
  if (disposition.parameters.has('filename*')) throw new BodyError(400, 'A part with an encoded file name')
  const encoding = headers.get('content-transfer-encoding')
  if (encoding !== undefined && !PLAIN_ENCODINGS.has(encoding.toLowerCase())) {
    throw new BodyError(415, 'A part with a transfer encoding')
  }
  const type = headers.get('content-type') ?? 'text/plain'
  const filename = disposition.parameters.get('filename')
  if (filename === undefined && !isUtf8(readMediaType(type)?.parameters.get('charset'))) {
    throw new BodyError(415, 'A field in another character set')
  }
  return {
    name: checkFieldName(unescapeName(name)),
    filename: filename === undefined ? undefined : baseName(unescapeName(filename)),
    type: sentType(type),
  }
}

function readHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of text.split('\r\n')) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) throw new BodyError(400, 'A part with a malformed header')
    const key = name.toLowerCase()
    if (headers.has(key)) throw new BodyError(400, 'A part with a header twice')
    headers.set(key, value.trim())
  }
  return headers
}

const ESCAPED = /%(?:0D|0A|22)/gi
const ESCAPES: Readonly<Record<string, string>> = { '%0d': '\r', '%0a': '\n', '%22': '"' }

/** Browsers escape these three and nothing else (HTML, "multipart/form-data encoding algorithm"). */
function unescapeName(text: string): string {
  return text.replace(ESCAPED, (escaped) => ESCAPES[escaped.toLowerCase()] ?? escaped)
}

/** A path built from a file's name must not leave its folder. */
function baseName(filename: string): string {
  const name = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1)
  return name === '.' || name === '..' ? '' : name
}
