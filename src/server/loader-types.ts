import type { Logger } from 'pino'
import type { Params } from '../shared/route-pattern.ts'

/** What a loader or resource handler may know of its request, beyond the web `Request`. */
export interface LoaderContext {
  /** Names this request in the log; taken from a trusted `X-Request-Id` or made here. */
  readonly requestId: string
  /** A child logger that carries the request's id. */
  readonly log: Logger
  /**
   * Headers for the answer; made on first use. `Cache-Control` replaces the default of documents, `Set-Cookie`
   * is appended and makes the answer private.
   */
  readonly headers: Headers
}

type SearchInput = Readonly<Record<string, string | string[]>>

/**
 * What a loader is given.
 * @typeParam Pattern the pattern of its entry in the table, without groups.
 * @typeParam Search the output of the segment's `search` schema; raw text without one.
 */
export interface LoaderArgs<Pattern extends string = string, Search = SearchInput> {
  /** Decoded once, without a prototype. */
  readonly params: Params<Pattern>
  /** Parsed by the schema that the same module exports as `search`. */
  readonly search: Search
  /** The request as the web platform has it; made on first use. */
  readonly request: Request
  /** Aborted when the client goes away or the render's time is over. Hand it to every fetch. */
  readonly signal: AbortSignal
  readonly context: LoaderContext
}

/** A schema for search params: zod's, or anything with the same `safeParse`. */
export interface SearchSchema {
  readonly _output: unknown
  safeParse(input: unknown): { success: true; data: unknown } | { success: false; error: { issues: readonly Issue[] } }
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** A module named by `loader` or `layoutLoader`. */
export interface ServerModule {
  readonly loader?: (args: never) => unknown
  readonly search?: SearchSchema
}

/** Answers one method of a resource route. */
export type ResourceHandler = (args: never) => Response | Promise<Response>

/** A module named by `handler`: its upper-case exports are the methods it answers; `HEAD` follows from `GET`. */
export type HandlerModule = Readonly<Record<string, unknown>>
