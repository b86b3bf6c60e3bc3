import type { Readable } from 'node:stream'

/** A file that is being uploaded. */
export interface UploadedFile {
  /** Name of the form's field. */
  readonly field: string
  /** File name as the client sends it; never a path. */
  readonly name: string
  /** Media type as the client sends it. */
  readonly type: string
  /** Its bytes, received at the pace of the reader. Fails if the file is over its limit or incomplete. */
  readonly stream: Readable
}
