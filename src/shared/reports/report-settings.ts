/** A page's settings for error reports, inserted by the server into the recorder's script. */
export interface ReportSettings {
  /** DSN without a secret. */
  readonly dsn: string
  /** Path of the relay on this site. */
  readonly tunnel: string
  /** Public path of the module that replaces the recorder. */
  readonly sdk: string
  readonly release: string
  readonly environment: string
  /** Share of page loads that are traced if the server has not decided, 0 to 1. */
  readonly rate: number
  /** Set if nothing may be loaded or sent before the visitor has agreed. */
  readonly consent?: true
}
