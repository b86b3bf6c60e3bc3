import type { Readable } from 'node:stream'

/** A file on its way in. */
export interface UploadedFile {
  /** Name of the form's field. */
  readonly field: string
  /** As the client calls it; never a path. */
  readonly name: string
  /** Media type as the client says. */
  readonly type: string
  /** Its bytes, as fast as they are read. Fails when the file is over its limit, or cut off. */
  readonly stream: Readable
}
