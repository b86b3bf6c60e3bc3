import type { SegmentMeta } from '../../../shared/protocol/route-data.ts'
import { revalidationTarget } from '../../../shared/revalidation-path.ts'
import type { CacheOptions, SharedLifetime } from '../../api/loader-types.ts'
import type { RequestContext } from '../../request/context.ts'
import { LateChangeError } from '../../request/late-changes.ts'
import type { SearchListener } from '../../values/track-search.ts'
import type { SessionListener } from '../../secrets/session-reads.ts'

/**
 * Modules whose deferred values have been the first to read the query: from the next answer on, browsers learn in time
 * that the data depends on it. At most the modules of the table.
 */
const LATE_READERS = new WeakSet<object>()

/**
 * Facts about a segment's data for the browser's route cache, collected while its loader runs. Read them after the
 * loader has settled.
 */
export class SegmentFacts implements SearchListener, SessionListener {
  /** The loader has returned. Its deferred values may still be pending. */
  isSettled = false
  #uses: Set<string> | true | undefined = undefined
  #lifetime: number | undefined = undefined
  #tags: Set<string> | undefined = undefined
  /** For the page's document. */
  shared: SharedLifetime | undefined = undefined
  #hasSession = false
  #isLate = false
  readonly #module: object | undefined

  /** @param module of its loader; absent if nothing is sent to browsers. */
  constructor(module?: object) {
    this.#module = module
  }

  /** A deferred value has read the query after the answer has said that nothing does: the browser must not keep the data. */
  get isLate(): boolean {
    return this.#isLate
  }

  /** The loader has returned. */
  settle(isDeferred: boolean): void {
    this.isSettled = true
    if (isDeferred && this.#module !== undefined && LATE_READERS.has(this.#module)) this.useAll()
  }

  noteLate(): void {
    this.#isLate = true
    if (this.#module !== undefined) LATE_READERS.add(this.#module)
  }

  /** Whether the data depends on the query. */
  get readsQuery(): boolean {
    return this.#uses !== undefined
  }

  /** The search params that the data depends on. */
  get uses(): true | readonly string[] | undefined {
    return this.#uses === undefined || this.#uses === true ? this.#uses : [...this.#uses]
  }

  useParam(key: string): void {
    if (this.#uses === true) return
    this.#uses ??= new Set()
    this.#uses.add(key)
  }

  useAll(): void {
    this.#uses = true
  }

  useSession(): void {
    this.#hasSession = true
  }

  /** Adds what decided whether the visitor may see this segment: the data depends on it too. */
  inherit(guards: SegmentFacts): void {
    if (guards.#uses === true) this.useAll()
    else for (const key of guards.#uses ?? []) this.useParam(key)
    this.#hasSession ||= guards.#hasSession
  }

  /** @throws {RangeError} for times that are not valid. */
  keep({ lifetime, shared, tags }: CacheOptions): void {
    if (shared !== undefined) this.shared = checkedShared(shared)
    if (lifetime !== undefined) {
      const seconds = lifetime === 'no-store' ? 0 : lifetime
      if (!Number.isFinite(seconds) || seconds < 0) {
        throw new RangeError(
          `cache({ lifetime: ${String(lifetime)} }): a lifetime is a number of seconds, 0 or more, or 'no-store'`,
        )
      }
      this.#lifetime = seconds
    }
    for (const tag of tags ?? []) (this.#tags ??= new Set()).add(revalidationTarget(tag))
  }

  /**
   * The facts in the form of the protocol, without defaults.
   * @returns `undefined` if all have their defaults.
   */
  meta({ givenHeaders, services }: RequestContext): SegmentMeta | undefined {
    const noStore = NO_STORE.test(givenHeaders?.get('cache-control') ?? '')
    const { seconds, session = seconds } = services.dataLifetime
    const lifetime = noStore ? 0 : (this.#lifetime ?? (this.#hasSession ? session : seconds))
    if (this.#uses === undefined && lifetime === undefined && this.#tags === undefined) return undefined
    return {
      ...(this.#uses === undefined ? {} : { uses: this.#uses === true || [...this.#uses].toSorted() }),
      ...(lifetime === undefined ? {} : { lifetime }),
      ...(this.#tags === undefined ? {} : { tags: [...this.#tags] }),
    }
  }
}

/** Notes a deferred value that is the first to read the query: the browser has received that nothing does. */
export function noteLateQuery(what: string, facts: SegmentFacts, context: RequestContext): void {
  if (!facts.isSettled || facts.uses === true) return
  facts.noteLate()
  const message = `${what} was first read after its loader had returned, so the browser learns too late that the data depends on it. Read it before the loader returns`
  context.noteLateChange(new LateChangeError(message))
}

function checkedShared(shared: SharedLifetime): SharedLifetime {
  const { seconds, staleSeconds = 0 } = shared
  const refuse = (member: string, value: unknown, rule: string): never => {
    throw new RangeError(
      `cache({ shared: { ${member}: ${String(value)} } }): ${member} is a number of seconds, ${rule}`,
    )
  }
  if (!(Number.isFinite(seconds) && seconds > 0)) refuse('seconds', seconds, 'above 0')
  if (!(Number.isFinite(staleSeconds) && staleSeconds >= 0)) refuse('staleSeconds', staleSeconds, '0 or more')
  return { seconds, staleSeconds }
}

const NO_STORE = /\bno-store\b/i
