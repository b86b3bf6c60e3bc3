/** The answer that carries the headers. */
export interface CarryingAnswer {
  readonly res: { readonly headersSent: boolean }
  /** Told about a change that it can no longer carry. @param header in lower case; none for a session. */
  noteLateChange(error: LateChangeError | LateSessionError, header?: string): void
}

/** A change to an answer that has no effect, because it came too late. Its stack leads to the caller. */
export class LateChangeError extends Error {
  override readonly name = 'LateChangeError'
}

/** A session was opened by an answer whose head lets caches give it to others. Its stack leads to the caller. */
export class LateSessionError extends Error {
  override readonly name = 'LateSessionError'

  constructor() {
    super(
      'A session was opened after the head of an answer had been sent that lets caches give it to other visitors, so the connection ' +
        'was cut. Await sessions.open(context) before the handler returns its Response, and not in the stream, or send Cache-Control: private',
    )
  }
}

/** The `context.headers` of a request. A change after they were sent has no effect; it is not lost silently. */
export class AnswerHeaders extends Headers {
  readonly #answer: CarryingAnswer
  /** Lines of the answer that was sent, from the first late change on, and late ones that were reported. */
  #known: Set<string> | undefined = undefined
  // Types of `Headers` declare members, not methods. Bound, because a closure would outlive its request.
  override readonly append: Headers['append'] = this.#append.bind(this)
  override readonly set: Headers['set'] = this.#set.bind(this)
  override readonly delete: Headers['delete'] = this.#delete.bind(this)

  constructor(answer: CarryingAnswer) {
    super()
    this.#answer = answer
  }

  #append(name: string, value: string): void {
    this.#check(name, value)
    Headers.prototype.append.call(this, name, value)
  }

  #set(name: string, value: string): void {
    this.#check(name, value)
    Headers.prototype.set.call(this, name, value)
  }

  #delete(name: string): void {
    this.#check(name)
    Headers.prototype.delete.call(this, name)
  }

  /** Sessions remove all cookies, and append those that stay: the same line again is not a change. */
  #check(given: string, value?: string): void {
    if (!this.#answer.res.headersSent) return
    this.#known ??= new Set([...this].map(([name, line]) => `${name}: ${line}`))
    const name = given.toLowerCase()
    const isCookie = name === 'set-cookie'
    const line = `${name}: ${value}`
    if (value === undefined ? isCookie || !this.has(name) : this.#known.has(line)) return
    this.#known.add(line)
    // Its value may be a secret.
    const what = isCookie ? `The cookie ${value?.split('=', 1)[0] ?? ''}` : `The header ${name}`
    const message =
      `${what} was changed after the headers of this answer had been sent, so the browser does not get it. Change it before ` +
      'the loader, handler or action returns: await what it depends on, outside of deferred values, streams, context.after() and the loader of a page with an early shell'
    this.#answer.noteLateChange(new LateChangeError(message), name)
  }
}
