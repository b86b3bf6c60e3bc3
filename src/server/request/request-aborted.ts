/** Why a request's signal was aborted. */
export class RequestAborted extends Error {
  override readonly name = 'AbortError'
  /** `gone`: the client has disconnected, which is not a failure. `timeout`: the render's time is over. */
  override readonly cause: 'gone' | 'timeout'

  constructor(cause: 'gone' | 'timeout') {
    super(cause === 'gone' ? 'The client has gone away' : 'The render took longer than RENDER_TIMEOUT_MS')
    this.cause = cause
  }
}
