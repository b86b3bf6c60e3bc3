/** Parts of a request's work that become spans of their own; the phases of `/metrics`, and actions. */
export type PartKind = 'loader' | 'shell' | 'stream' | 'action'

/** A part of a request's work in progress. */
export interface RequestPart {
  /** Runs work of this part: spans that libraries start meanwhile are inside of it. */
  run<Result>(work: () => Result): Result
  /**
   * Ends the part. Later calls do nothing.
   * @param thrown its failure or control flow, in a tuple because anything may be thrown.
   */
  end(thrown?: readonly [unknown]): void
}

/** A request as a span of OpenTelemetry, with spans of its parts. */
export interface RequestTelemetry {
  /** 32 hexadecimal digits; `undefined` if the request is not sampled. */
  readonly traceId: string | undefined
  /** Runs work of the request: spans that libraries start meanwhile are inside of its span. */
  run<Result>(work: () => Result): Result
  /**
   * Starts a part. Parts that are still open end with the request.
   * @param name segment or action, in the words of the application.
   * @returns `undefined` if the request is not sampled.
   */
  begin(kind: PartKind, name?: string): RequestPart | undefined
  /** Notes a failure that was logged under this digest. */
  failed(thrown: unknown, digest: string): void
}
