import type { UploadedFile } from './uploaded-file.ts'
import { BodyError, ofFile, overLimit } from './body-error.ts'
import { MAX_STREAMED_FIELD_BYTES, type BodyLimits } from './body-limits.ts'
import { decodeUtf8 } from './body-text.ts'
import type { PartReader } from './part-reader.ts'
import { openUpload, type FilePart, type Upload } from './upload-stream.ts'

/** A form's field: text, or a file that is held in memory. */
export type FormField = readonly [name: string, value: string | File]

/** A parsed multipart body. */
interface MultipartForm {
  /** With streamed files: the fields before the first file; later ones are added while `files` is iterated. */
  readonly fields: readonly FormField[]
  /** One at a time, one iteration; see `FormBody`. */
  readonly files: AsyncIterable<UploadedFile>
  discard(): void
}

/**
 * Reads a form into memory.
 * @param over set if the body is known to be too large: its first file is refused unread.
 * @throws {BodyError} 413 for too many or too large files, and every error of the reader.
 */
export async function holdForm(
  parts: PartReader,
  { files, fileBytes }: Pick<BodyLimits, 'files' | 'fileBytes'>,
  over?: BodyError,
): Promise<FormField[]> {
  const fields: FormField[] = []
  let count = 0
  for (let part = await parts.nextPart(); part !== undefined; part = await parts.nextPart()) {
    const { name, filename, type } = part.head
    if (filename === undefined) {
      fields.push([name, decodeUtf8(await readAll(parts, () => undefined))])
      continue
    }
    try {
      if (over !== undefined && filename !== '') throw over
      let length = 0
      const bytes = await readAll(parts, (more) => {
        length += more
        if (length > fileBytes) throw overLimit('fileBytes', fileBytes)
      })
      if (filename !== '' || bytes.length > 0) count += 1
      if (count > files) throw overLimit('files', files)
      fields.push([name, new File([bytes], filename, { type })])
    } catch (error) {
      throw ofFile(error, { field: name, fields })
    }
  }
  if (over !== undefined) throw over
  return fields
}

/**
 * Reads a form up to its first file; files are read on demand.
 * @param onHold receives the bytes of fields and part headers, which are kept; an error that it throws ends the
 * reading.
 * @throws {BodyError} 413 for too many bytes outside files, and every error of the reader.
 */
export async function streamForm(
  parts: PartReader,
  limits: BodyLimits & { readonly over?: BodyError | undefined },
  signal: AbortSignal,
  onHold: (bytes: number) => void = () => undefined,
): Promise<MultipartForm> {
  const fields: FormField[] = []
  const mostHeld = Math.min(limits.bytes, MAX_STREAMED_FIELD_BYTES)
  let held = 0
  let count = 0
  let current: Upload | undefined
  let over = false

  function hold(bytes: number): void {
    held += bytes
    if (held > mostHeld) throw overLimit('fieldBytes', mostHeld)
    onHold(bytes)
  }

  async function nextFile(): Promise<FilePart | undefined> {
    for (let part = await parts.nextPart(); part !== undefined; part = await parts.nextPart()) {
      const { head, headBytes } = part
      hold(headBytes)
      if (head.filename === undefined) {
        fields.push([head.name, decodeUtf8(await readAll(parts, hold))])
        continue
      }
      const first = head.filename === '' ? await parts.nextData() : undefined
      // Browsers send a file field that was left empty like this.
      if (head.filename === '' && first === undefined) continue
      count += 1
      if (count > limits.files) throw ofFile(overLimit('files', limits.files), { field: head.name })
      return { head, first }
    }
    return undefined
  }

  async function found(): Promise<FilePart | undefined> {
    try {
      return await nextFile()
    } catch (error) {
      parts.fail(error)
      throw error
    }
  }

  let ahead = await found()
  if (ahead === undefined) over = true
  const { over: excess } = limits
  if (excess !== undefined) throw ahead === undefined ? excess : ofFile(excess, { field: ahead.head.name, fields })

  const iterator: AsyncIterableIterator<UploadedFile> = {
    [Symbol.asyncIterator]: () => iterator,
    async next() {
      // Wait for a file that the handler is reading; skip one that it is not.
      if (current?.isTaken() === true) await current.closed
      else current?.file.stream.destroy()
      const file = over ? undefined : (ahead ?? (await found()))
      ahead = undefined
      if (file === undefined) over = true
      if (file === undefined || over) return { done: true, value: undefined }
      current = openUpload(parts, file, limits.fileBytes, signal)
      return { done: false, value: current.file }
    },
    return() {
      over = true
      return Promise.resolve({ done: true, value: undefined })
    },
  }

  return {
    fields,
    files: iterator,
    discard() {
      over = true
      parts.fail(new BodyError(400, 'The rest of the body is not wanted'))
      current?.file.stream.destroy()
    },
  }
}

/** The content of one part. `count` receives the number of bytes before they are kept, and may throw. */
async function readAll(parts: PartReader, count: (bytes: number) => void): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  for (let bytes = await parts.nextData(); bytes !== undefined; bytes = await parts.nextData()) {
    count(bytes.length)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
