/**
 * The part of the web platform that Node and browsers share, for checking this folder alone. Folders that import from
 * here have the full types of their own platform.
 */

interface URL {
  readonly href: string
  readonly pathname: string
  readonly search: string
}

declare const URL: { new (url: string): URL }

/** Bytes, one per character, to base64. */
declare function btoa(binary: string): string

/** Base64 to bytes, one per character. */
declare function atob(base64: string): string

/** A form's fields, as actions take them. */
interface FormData {
  get(name: string): unknown
}
