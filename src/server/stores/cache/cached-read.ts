/** Names a value: a text, or a list that begins with one. Values of different parts never meet, whatever they hold. */
export type CacheKey = string | readonly [string, ...(string | number | boolean | null)[]]

/** For how long the server keeps a value, and what drops it before. */
export interface CachedOptions {
  /** For so long it is given out as it is. Above 0. */
  readonly seconds: number
  /**
   * For so long after that it is still given out, while a new one is made behind the answer; also where that fails. 0
   * unless told.
   */
  readonly staleSeconds?: number
  /** Names by which `revalidate` drops the value. They do not begin with a slash. */
  readonly tags?: readonly string[]
}

/** Makes a value for `cached`. What it returns travels as loader data does; promises are not kept, so await them. */
export type CachedRead<Value> = (args: {
  /** Aborted after 30 s. It is not that of a request: others may be waiting for the same value. */
  readonly signal: AbortSignal
}) => Value | Promise<Value>
