/** What a page is told of its error reports: by the server, inside the recorder's script. */
export interface ReportSettings {
  /** DSN without a secret. */
  readonly dsn: string
  /** Path of the relay on this site. */
  readonly tunnel: string
  /** Public path of the module that takes over from the recorder. */
  readonly sdk: string
  readonly release: string
  readonly environment: string
  /** Share of page loads that are traced where the server has not decided, 0 to 1. */
  readonly rate: number
  /** Set where nothing may be loaded or sent before the visitor has agreed. */
  readonly consent?: true
}
