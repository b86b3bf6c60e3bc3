/** Names a value: a text, or a list that begins with one. Different lists never name the same value. */
export type CacheKey = string | readonly [string, ...(string | number | boolean | null)[]]

/** How long the server keeps a value, and what drops it earlier. */
export interface CachedOptions {
  /** How long the value is fresh. Above 0. */
  readonly seconds: number
  /** How much longer it may be returned while a new one is made in the background, even if that fails. Default: 0. */
  readonly staleSeconds?: number | undefined
  /** Names by which `revalidate` drops the value. They must not begin with a slash. Default: none. */
  readonly tags?: readonly string[] | undefined
}

/** Makes a value for `cached`. It may return everything that a loader may, except promises: await them. */
export type CachedRead<Value> = (args: {
  /** Aborted after 30 s. Not the signal of a request: others may wait for the same value. */
  readonly signal: AbortSignal
}) => Value | Promise<Value>

/** The request for which a value is read. */
export interface CacheReader {
  /** Path of the page, still percent-encoded. */
  readonly pathname: string
  /** The request. */
  readonly of: object
  /** Client address: values made for it take at most a quarter of a full cache. */
  readonly address?: string
  /** Receives the tags of the value, and whether it was stale, or made of one that was. */
  used(tags: readonly string[], isStale: boolean): void
  /** Receives errors of a background refresh. */
  failed(thrown: unknown): void
}

const MOST_SHOWN = 200

/** A key in messages, which logs and reports keep: it may contain a visitor's text. */
export function shownKey(name: string): string {
  return name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name
}
