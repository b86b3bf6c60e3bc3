/** The browser's files of a build. Written by `scripts/build`, read once at the start. */
export interface AssetManifest {
  /** Equal for equal sources on every machine; identifies this build to browsers. */
  readonly buildId: string
  /** Name of the application's package; absent if it has none. Instances that share a store share what has this name. */
  readonly application?: string
  /** Where the application is mounted on its host: `/shop`; absent at the root. All public paths begin with it. */
  readonly basePath?: string
  /** Public path of the entry chunk (`/_m/assets/...`), absent if nothing hydrates. */
  readonly entry?: string
  /** The entry's static imports, for module preloads. */
  readonly entryImports: readonly string[]
  /** Stylesheets of the document itself. */
  readonly entryStyles: readonly string[]
  /** By public path of each script: `sha256-...` of its content (Subresource Integrity); absent in development. */
  readonly integrity?: Readonly<Record<string, string>>
  /** Assets for error reports; absent if browsers report nothing. */
  readonly reports?: ReportAssets
  /** Scripts that decode values beyond JSON; absent if the entry contains the decoder. */
  readonly valueDecoder?: readonly string[]
  /** By pattern (groups included) and module kind (`page`, `layout`, `loading`, `error`, ...): the chunks of that module. */
  readonly segments: Readonly<Record<string, Readonly<Record<string, SegmentAssets>>>>
  /** Ids of the segments whose modules import an action; absent if unknown. */
  readonly actionSegments?: readonly string[]
}

/** The files one module of a segment needs in the browser. */
export interface SegmentAssets {
  /** The chunk itself, then its static imports: public paths. */
  readonly scripts: readonly string[]
  /** Its stylesheets: public paths. */
  readonly styles: readonly string[]
}

/** The two halves of error reports in the browser. */
export interface ReportAssets {
  /** Script text for the start of documents; contains `RECORDER_SETTINGS` in place of its `ReportSettings` as JSON. */
  readonly recorder: string
  /** Public path of the module that the recorder loads later. */
  readonly sdk: string
}

/** Placeholder for the settings in the recorder's script. */
export const RECORDER_SETTINGS = '__MILLRACE_REPORTS__'

/** For applications that were not built: documents without scripts and styles. */
export const NO_ASSETS: AssetManifest = {
  buildId: 'development',
  entryImports: [],
  entryStyles: [],
  segments: {},
}
