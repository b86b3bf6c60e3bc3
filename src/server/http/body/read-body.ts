import type { IncomingMessage } from 'node:http'
import type { UploadedFile } from './uploaded-file.ts'
import { BodyError, overLimit } from './body-error.ts'
import { readBodyType, type BodyType } from './body-kind.ts'
import { BYTES_PER_JSON_VALUE, MAX_JSON_VALUES, MAX_STREAMED_FIELD_BYTES, type BodyLimits } from './body-limits.ts'
import { openBodySource, type BodySource } from './body-source.ts'
import type { BodyMemory } from './held-bodies.ts'
import { readText } from './body-text.ts'
import { parseCheckedJson } from './checked-json.ts'
import { holdForm, streamForm, type FormField } from './multipart-form.ts'
import { isParsed } from './parsed-body.ts'
import { createPartReader } from './part-reader.ts'
import { readUrlencoded } from './urlencoded-form.ts'

/** Bytes that one read of a request may return: fields and the head of a file that is too large may arrive with its start. */
const FIRST_READ_BYTES = 131_072

const UNCOUNTED: BodyMemory = { hold: () => undefined, whenLost: () => undefined, turn: () => undefined }

/** Time for the fields before a file that is too large, in ms: browsers send them with the head. */
const FIRST_READ_MS = 1_000

/** A form's fields in the order in which they were sent. */
export interface FormBody {
  readonly kind: 'form'
  /**
   * A file field that was left empty is a `File` without a name and without bytes. With streamed files these are the
   * fields before the first file; later ones, such as the submitter, are added while `files` is iterated.
   */
  readonly fields: readonly FormField[]
  /**
   * The files, with `streamed`; otherwise empty. Iterate once. The next step waits until the current file's stream has
   * ended, and skips a file that is not being read. Leaving the loop stops reading, but the current file remains
   * readable. Fails with `BodyError`, as the file's stream does, or with the signal's reason.
   */
  readonly files: AsyncIterable<UploadedFile>
  /** Stops reading, the current file included. Does nothing once everything is read. */
  discard(): void
}

/** A JSON body, already checked for depth and keys. */
export interface JsonBody {
  readonly kind: 'json'
  readonly value: unknown
}

/**
 * Reads the body of an unread request. With `streamed`, it resolves when the first file begins. Afterwards, and after a
 * failure, the request has none of our listeners; `dropBody` handles the unread rest.
 * @param memory counts the bytes to be kept, before more are read; an error that it throws ends the reading.
 * @throws {BodyError} for a body that is malformed (400), too slow (408), too large (413), or of an unsupported type
 * (415).
 * @throws the signal's reason if it is aborted first.
 */
export async function readBody(
  req: IncomingMessage,
  limits: BodyLimits,
  signal: AbortSignal,
  memory: BodyMemory = UNCOUNTED,
): Promise<FormBody | JsonBody> {
  const type = readBodyType(req.headers['content-type'])
  if (type === undefined) throw new BodyError(415, 'A body of an unsupported type')
  const isCompressed = !/^(?:identity)?$/i.test(req.headers['content-encoding'] ?? '')
  if (isCompressed && !isParsed(req)) throw new BodyError(415, 'A compressed body')
  // Only multipart bodies can be streamed.
  const inMemory = limits.streamed && type.kind !== 'multipart'
  const bytes = inMemory ? Math.min(limits.bytes, MAX_STREAMED_FIELD_BYTES) : limits.bytes
  const over = Number(req.headers['content-length'] ?? 0) > bytes ? overLimit('bytes', bytes) : undefined
  // The fields before the first file say where to show the fault. A client with `Expect` gets the answer at once.
  const isShown = limits.showsFault === true && type.kind === 'multipart' && req.headers.expect === undefined
  if (over !== undefined && !isShown) throw over
  const most = over === undefined ? bytes : bytes + FIRST_READ_BYTES
  const partial = over !== undefined
  const source = openBodySource(req, { bytes: most, timeoutMs: limits.timeoutMs, names: 'dots', partial }, signal)
  memory.whenLost(source.close)
  const timer = over && setTimeout(() => source.close(over), FIRST_READ_MS)
  try {
    return await readKind(type, { source, over, limits, signal, memory })
  } finally {
    clearTimeout(timer)
  }
}

/** What the reading of one body needs. */
interface Reading {
  readonly source: BodySource
  /** Set if the body is refused, whatever it holds. */
  readonly over: BodyError | undefined
  readonly limits: BodyLimits
  readonly signal: AbortSignal
  readonly memory: Pick<BodyMemory, 'hold' | 'turn'>
}

async function readKind(type: BodyType, reading: Reading): Promise<FormBody | JsonBody> {
  const { source, over, limits, signal, memory } = reading
  const { hold } = memory
  const held = heldSource(source, hold)
  if (type.kind === 'json') {
    const most = Math.max(MAX_JSON_VALUES, Math.floor(limits.bytes / BYTES_PER_JSON_VALUE))
    return { kind: 'json', value: parseCheckedJson(await textInTurn(held, reading), hold, most) }
  }
  if (type.kind === 'urlencoded') return formOf(readUrlencoded(await textInTurn(held, reading)))
  if (type.boundary === undefined) throw new BodyError(400, 'A multipart body without a boundary')
  if (!limits.streamed) return formOf(await holdForm(createPartReader(held, type.boundary), limits, over))
  const parts = createPartReader(source, type.boundary)
  return { kind: 'form', ...(await streamForm(parts, { ...limits, over }, signal, hold)) }
}

/** Resolves when it may be made into values. */
async function textInTurn(source: BodySource, { memory, signal }: Reading): Promise<string> {
  const text = await readText(source)
  await memory.turn(text.length)
  signal.throwIfAborted()
  return text
}

/** Counts all of its chunks as kept. */
function heldSource(source: BodySource, hold: (bytes: number) => void): BodySource {
  return {
    async read() {
      const chunk = await source.read()
      if (chunk !== undefined) hold(chunk.length)
      return chunk
    },
    close: source.close,
  }
}

/** A form whose fields are all in memory. */
export function formOf(fields: readonly FormField[]): FormBody {
  return { kind: 'form', fields, files: noFiles(), discard: () => undefined }
}

async function* noFiles(): AsyncGenerator<UploadedFile, void> {}
