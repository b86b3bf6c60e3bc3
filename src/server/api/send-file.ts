import { isAbsolute } from 'node:path'

/** Options of `sendFile`. */
export interface SendFileOptions {
  /** Absolute path of a folder. Nothing outside of it is sent, not even through symbolic links. */
  readonly root: string
  /**
   * Makes browsers save the file: `true` under its own name, a text under that name, in any alphabet.
   * Default: `false`, browsers show what they can.
   */
  readonly download?: boolean | string | undefined
  /** Media type. Default: by the ending of the file's name. */
  readonly type?: string | undefined
}

/** A file that a `Response` stands for. */
export interface NamedFile extends SendFileOptions {
  /** Its folders and its own name, below `root`. */
  readonly names: readonly string[]
}

const FILE = Symbol('millrace.file')

/**
 * The answer of a handler with a file: a range of it if the request asks for one, 304 if the client has it, 404
 * if there is none. The server opens the file when the handler has returned; its body is not readable here.
 *
 * Return the `Response` itself; its headers may be changed. Without `download`, all but common images, audio, video, fonts,
 * PDF and plain text get a policy that runs no scripts, unless the handler sets a `Content-Security-Policy`. A file whose
 * type is not a single media type is saved by browsers, not shown.
 * @param path the file's name in `root`, or a list: the names of its folders, and its own. A name that is empty, begins with a
 * dot or contains a slash or backslash is not found.
 * @throws {TypeError} if `root` is not absolute.
 */
export function sendFile(path: string | readonly string[], options: SendFileOptions): Response {
  if (!isAbsolute(options.root)) throw new TypeError(`sendFile: root ${JSON.stringify(options.root)} is not absolute`)
  return Object.defineProperty(new Response(null), FILE, { value: { ...options, names: [path].flat() } })
}

/** The file that a response of `sendFile` stands for; `undefined` for any other response. */
export function namedFile(response: Response): NamedFile | undefined {
  return (response as { readonly [FILE]?: NamedFile })[FILE]
}
