/** Names a value: a text, or a list that begins with one. Different lists never name the same value. */
export type CacheKey = string | readonly [string, ...(string | number | boolean | null)[]]

/** How long the server keeps a value, and what drops it earlier. */
export interface CachedOptions {
  /** How long it is fresh. Above 0. */
  readonly seconds: number
  /**
   * How long after that it is still returned while a new one is made in the background, also when that fails. Default: 0.
   */
  readonly staleSeconds?: number
  /** Names by which `revalidate` drops the value. They do not begin with a slash. */
  readonly tags?: readonly string[]
}

/** Makes a value for `cached`. It may return what a loader may, except for promises: await them. */
export type CachedRead<Value> = (args: {
  /** Aborted after 30 s. Not the signal of a request: others may wait for the same value. */
  readonly signal: AbortSignal
}) => Value | Promise<Value>

/** On whose behalf a value is read. */
export interface CacheReader {
  /** Path of the page, still percent-encoded. */
  readonly pathname: string
  /** Client address: values it has made fill a quarter of a full cache at most. */
  readonly address?: string
  /** Told of the tags of the value. */
  used(tags: readonly string[]): void
  /** Told of what a refresh in the background throws. */
  failed(thrown: unknown): void
}
