import type { ServerResponse } from 'node:http'
import type { Audience } from './audience.ts'

/** The answer that carries the headers. */
export interface CarryingAnswer {
  readonly res: { readonly headersSent: boolean }
  /** Told about a change that it can no longer carry. @param header in lower case; none for what was read of the visitor. */
  noteLateChange(error: LateChangeError | LateVisitorError, header?: string): void
}

/** A change to an answer that has no effect, because it came too late. Its stack leads to the caller. */
export class LateChangeError extends Error {
  override readonly name = 'LateChangeError'
}

/** Something of the visitor was read by an answer whose head lets caches give it to others. Its stack leads to the caller. */
export class LateVisitorError extends Error {
  override readonly name = 'LateVisitorError'

  /** @param what was read, as callers write it. */
  constructor(what: string) {
    super(
      `${what} was used after the head of an answer had been sent that lets caches give it to other visitors, so the connection ` +
        'was cut. Use it before the handler returns its Response, and not in the stream, or send Cache-Control: private',
    )
  }
}

/** An answer, and what may be read too late for it. */
export interface LateReads extends CarryingAnswer {
  readonly res: Pick<ServerResponse, 'headersSent' | 'writableEnded' | 'destroyed' | 'destroy'>
  readonly audience: Pick<Audience, 'sharedBy'>
}

/**
 * Call this when something of this visitor is read.
 * @param what as callers write it.
 * @param isNamed whether the `Vary` of an answer tells caches of it.
 * @throws {LateVisitorError} where the head of the answer would have been another, and cuts it off.
 */
export function refuseLateVisitor(request: LateReads, what: string, isNamed?: (vary: string) => boolean): void {
  const { audience, res } = request
  const { sharedBy } = audience
  if (sharedBy === undefined || res.writableEnded || res.destroyed) return
  if (isNamed?.(sharedBy) === true) return
  const error = new LateVisitorError(what)
  request.noteLateChange(error)
  res.destroy()
  throw error
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
