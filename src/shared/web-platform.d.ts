/**
 * The part of the web platform that Node and browsers have alike, for checking this folder alone. Folders that import
 * from here bring the full types of their own platform.
 */

interface URL {
  readonly href: string
  readonly pathname: string
  readonly search: string
}

declare const URL: { new (url: string): URL }

/** Bytes, one a character, to base64. */
declare function btoa(binary: string): string

/** Base64 to bytes, one a character. */
declare function atob(base64: string): string
