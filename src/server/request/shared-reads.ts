import { noteSession, watchSessions, type SessionListener } from '../secrets/session-reads.ts'

/** The reads of `context.once`, by key: for all that runs for one visitor in one request. */
export class SharedReads {
  readonly #reads = new Map<string | object, SharedRead>()

  /** Begins the read of this key, or returns the one that has begun. After a failure, the next call begins again. */
  once<Value>(key: string | object, read: () => Value | Promise<Value>): Promise<Value> {
    const reads = this.#reads
    let shared = reads.get(key)
    if (shared === undefined) {
      const made = new SharedRead(read)
      reads.set(key, made)
      made.value.catch(() => reads.get(key) === made && reads.delete(key))
      shared = made
    }
    const value = shared.use() as Promise<Value>
    // A failure that nobody awaits must not end the process.
    value.catch(() => undefined)
    return value
  }
}

/** One read of `once`. All loaders that use it count as having opened the sessions that it opens. */
class SharedRead implements SessionListener {
  readonly value: Promise<unknown>
  #hasSession = false

  constructor(read: () => unknown) {
    this.value = watchSessions(this, async () => read())
  }

  useSession(): void {
    this.#hasSession = true
  }

  async use(): Promise<unknown> {
    try {
      return await this.value
    } finally {
      if (this.#hasSession) noteSession()
    }
  }
}
