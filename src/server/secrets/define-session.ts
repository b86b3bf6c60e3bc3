import { checkValueAsync, issuePath, type Schema } from '../../shared/schema.ts'
import { IN_COOKIE, NO_SESSION, SOME_SESSION } from '../../shared/protocol/session-marks.ts'
import type { SessionLife } from './session-life.ts'
import { noteSession } from './session-reads.ts'
import { userMarks } from './user-mark.ts'
import { SealedCookie, sealedCookieName, type Checked, type SessionContext } from './sealed-cookie.ts'

export type { SessionContext } from './sealed-cookie.ts'

const DEFAULT_MAX_AGE_SECONDS = 14 * 86_400
const MOST_MAX_AGE_SECONDS = 400 * 86_400 // browsers cap the lifetime of cookies (RFC 6265bis)
const FLASH_MAX_AGE_SECONDS = 300 // for the next page; much later it would be out of context
const OF_USER = `${SOME_SESSION}.`
const NAME = /^[\w-]{1,64}$/

/** Options of a session kind. */
export interface SessionOptions<Data> {
  /**
   * The cookie is named `__Host-<name>`: 1 to 64 letters, digits, `-` and `_`. Default: `session`. Safari drops such a
   * cookie on `http://localhost`; there it is `<name>` without `Secure`. Under the base
   * path `/shop` it is `__Host-shop~<name>`.
   */
  readonly name?: string | undefined
  /**
   * Validates the data at each read: data that no longer fits after a deployment counts as no session. Data is stored
   * as JSON, so the schema must accept the parsed JSON.
   */
  readonly schema: Schema<Data>
  /** Lifetime in seconds from the last `set` or renewal: 1 to 400 days. Default: 14 days. */
  readonly maxAgeSeconds?: number | undefined
  /**
   * The user to whom a session belongs: an id that never changes. With it, typed text is restored when the same
   * user signs in again, and for nobody else. Without it, signing out drops the text, and a sign-in that replaces a
   * session has to call `clear` before `set`.
   */
  readonly user?: ((data: Data) => string) | undefined
}

/** One visitor's session during one request. Changes are sent with this answer, in one header per cookie. */
export interface Session<Data> {
  /** `undefined` without a session. Only `set` changes it. */
  readonly data: Readonly<Data> | undefined
  /**
   * Starts the session, or replaces its data. Await it: the header is set when the promise settles.
   * @throws {TypeError} for data that the schema refuses.
   * @throws {CookieSizeError} if the cookie would be larger than browsers accept.
   */
  set(data: Data): Promise<void>
  /**
   * Restarts the session's lifetime if more than half of it is over; otherwise, without a session, and in a function
   * `visitor`, does nothing.
   */
  renew(): Promise<void>
  /**
   * Ends the session in this browser, and deletes messages that earlier requests have stored for the next page. Await it, as
   * sessions on the server require.
   */
  clear(): void
  /**
   * Stores a message for the next page, in a separate cookie. Await it. A later message replaces an earlier one.
   * @throws {CookieSizeError} if the text is too long for a cookie.
   */
  flash(text: string): Promise<void>
  /** The stored message, once; `undefined` if there is none, in prefetched answers, and in a function `visitor`. */
  takeFlash(): string | undefined
}

/** A kind of session. */
export interface SessionKind<Data> {
  /** The session of a request: one object per request, shared by actions and loaders. */
  open(context: SessionContext): Promise<Session<Data>>
}

/**
 * Declares a kind of session, stored encrypted in a cookie of the visitor; the server stores nothing.
 * @param clock in ms since the epoch; default: the server's.
 * @throws {RangeError} for an invalid name or age.
 * @example
 * ```ts
 * import { defineSession } from 'millrace/server'
 * import { z } from 'zod'
 *
 * export const sessions = defineSession({ schema: z.object({ user: z.string() }), user: ({ user }) => user })
 * ```
 */
export function defineSession<Data>(options: SessionOptions<Data>, clock?: () => number): SessionKind<Data> {
  const { name = 'session', schema, maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS, user } = options
  checkName('defineSession', name)
  checkAge('defineSession: maxAgeSeconds', maxAgeSeconds)

  /** Stored on the context: a weak map would keep each request alive too long, because its session references it. */
  const opened = Symbol(`millrace.session.${name}`)

  const openFor = async (context: SessionContext): Promise<Session<Data>> => {
    const now = clock ?? (() => context.now?.() ?? Date.now())
    const markOf = (data: Data, former?: Data): string | undefined =>
      user === undefined || (former !== undefined && user(former) === user(data))
        ? undefined
        : `${OF_USER}${userMarks(context, `${name} ${user(data)}`)}`
    const [main, message] = await Promise.all([
      SealedCookie.open(context, {
        name: sealedCookieName(name, context),
        maxAgeSeconds,
        check: (stored) => checkData(schema, stored),
        now,
        markOf,
      }),
      openFlash(name, context, now),
    ])
    const life: SessionLife = {
      async leftMs() {
        const leftSeconds = maxAgeSeconds - main.ageSeconds
        return leftSeconds > 0 ? leftSeconds * 1_000 : undefined
      },
    }
    const note = (): void => {
      const { value, mark = SOME_SESSION } = main
      // Without a user when it began, it has a random one.
      const who = value !== undefined && !mark.startsWith(OF_USER) ? (markOf(value) ?? mark) : mark
      context.noteSession?.(IN_COOKIE + name, value === undefined ? NO_SESSION : who, life)
    }
    note()
    return new OpenSession(main, {
      set(data) {
        const former = main.value
        if (former === undefined || (user !== undefined && user(former) !== user(data))) message.drop()
        return handled(main.write(data).then(note))
      },
      renew() {
        const isDue = context.hasBegun !== true && main.ageSeconds > maxAgeSeconds / 2
        return handled(isDue ? main.rewrite() : Promise.resolve())
      },
      clear() {
        main.erase()
        message.drop()
        note()
      },
      flash: message.flash,
      takeFlash: message.takeFlash,
    })
  }

  const kind: SessionKind<Data> = {
    open(context: SessionContext & { [opened]?: Promise<Session<Data>> }) {
      noteSession()
      const nobodys = context.lookAtSession?.(kind)
      if (nobodys !== undefined) return nobodys
      return (context[opened] ??= noted(context, openFor(context)))
    },
  }
  return kind
}

/** The head of the answer waits for it. */
export function noted<Opened>(context: SessionContext, opening: Promise<Opened>): Promise<Opened> {
  context.noteOpening?.(opening)
  return opening
}

/** Not a literal with a getter: that would outlive its request; see `http/own-getters.ts`. */
class OpenSession<Data> implements Session<Data> {
  readonly set: Session<Data>['set']
  readonly renew: Session<Data>['renew']
  readonly clear: Session<Data>['clear']
  readonly flash: Session<Data>['flash']
  readonly takeFlash: Session<Data>['takeFlash']
  readonly #main: SealedCookie<Data>

  constructor(main: SealedCookie<Data>, { set, renew, clear, flash, takeFlash }: Omit<Session<Data>, 'data'>) {
    this.set = set
    this.renew = renew
    this.clear = clear
    this.flash = flash
    this.takeFlash = takeFlash
    this.#main = main
  }

  get data(): Readonly<Data> | undefined {
    return this.#main.value
  }
}

/** @throws {RangeError} for a name that no session can have. */
export function checkName(by: string, name: string): void {
  if (!NAME.test(name)) {
    throw new RangeError(`${by}: name ${JSON.stringify(name)} is not 1 to 64 letters, digits, - and _`)
  }
}

/** @throws {RangeError} for a lifetime in seconds that no cookie can have. */
export function checkAge(what: string, seconds: number): void {
  if (!Number.isSafeInteger(seconds) || seconds < 1 || seconds > MOST_MAX_AGE_SECONDS) {
    throw new RangeError(`${what} ${seconds} is not a whole number from 1 to ${MOST_MAX_AGE_SECONDS} (400 days)`)
  }
}

/** Checks data that was parsed from JSON. */
export async function checkData<Data>(schema: Schema<Data>, stored: unknown): Promise<Checked<Data>> {
  const { issues, value } = await checkValueAsync(schema, stored)
  if (issues === undefined) return { value: value as Data }
  return { fault: issues.map((issue) => [...issuePath(issue).map(String), issue.message].join(': ')).join('; ') }
}

/** The message for the next page. */
export interface Flash extends Pick<Session<unknown>, 'flash' | 'takeFlash'> {
  /** Deletes a message of an earlier request: another user is not to see it. */
  drop(): void
}

/**
 * Opens the message for the next page. No session's name contains a dot. It has a cookie of its own because taking it
 * must not write the session: a late answer could restore a session that has been signed out.
 */
export async function openFlash(name: string, context: SessionContext, now: () => number): Promise<Flash> {
  const message = await SealedCookie.open(context, {
    name: sealedCookieName(`${name}.flash`, context),
    maxAgeSeconds: FLASH_MAX_AGE_SECONDS,
    check: checkText,
    now,
  })
  let isNew = false
  return {
    flash(text) {
      isNew = true
      return handled(message.write(text))
    },
    drop() {
      if (!isNew && message.value !== undefined && context.hasBegun !== true) message.erase()
    },
    takeFlash() {
      const text = message.value
      if (text === undefined || context.hasBegun === true || (context.isPrefetch ?? context.prefetch) === true)
        return undefined
      message.erase()
      return text
    },
  }
}

/** A failed change that nobody awaits must not end the process; callers that await it still get the failure. */
export function handled<Result>(change: Promise<Result>): Promise<Result> {
  change.catch(() => undefined)
  return change
}

async function checkText(stored: unknown): Promise<Checked<string>> {
  return typeof stored === 'string' ? { value: stored } : { fault: 'a message is a text' }
}
