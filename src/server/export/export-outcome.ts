import type { ExportFault } from './site-paths.ts'

/** What an export has written. */
export interface ExportReport {
  readonly pages: number
  /** Of all kinds. */
  readonly files: number
  /** What has been left out. */
  readonly leftOut: readonly ExportFault[]
}

/** What has become of an export. */
type ExportOutcome =
  | ({ readonly kind: 'exported'; readonly buildId: string } & ExportReport)
  /** The message names all that is in the way. */
  | { readonly kind: 'failed'; readonly message: string }

/** Options of an export. */
interface ExportSiteOptions {
  /** Relative to the working folder, or absolute. */
  readonly folder: string
  /** Leave out what cannot be a file, instead of stopping. */
  readonly isPartial: boolean
  /** Called from time to time, with the number of pages so far. */
  readonly onProgress: (pages: number) => void
}

/** What the entry of a build exports for `millrace export`. */
export interface ExportEntry {
  /** Starts the application, writes its pages, and stops it. Errors of the application's own `start` are thrown. */
  exportSite(options: ExportSiteOptions): Promise<ExportOutcome>
}
