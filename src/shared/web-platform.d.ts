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
