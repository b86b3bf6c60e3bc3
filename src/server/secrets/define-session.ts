import type { ZodType } from 'zod'
import { SealedCookie, sealedCookieName, type Checked, type SessionContext } from './sealed-cookie.ts'

export type { SessionContext } from './sealed-cookie.ts'

const DEFAULT_MAX_AGE_SECONDS = 14 * 86_400
const MOST_MAX_AGE_SECONDS = 400 * 86_400 // browsers keep no cookie for longer (RFC 6265bis)
const FLASH_MAX_AGE_SECONDS = 300 // it is for the next page; who comes back later would not know what it is about
const NAME = /^[\w-]{1,64}$/

/** How a kind of session is kept. */
export interface SessionOptions<Data> {
  /**
   * The cookie is named `__Host-<name>`: 1 to 64 letters, digits, `-` and `_`. `session` unless told. Safari drops such a
   * cookie on `http://localhost`; there it is `<name>`, and not `Secure`.
   */
  readonly name?: string
  /**
   * Checks the data whenever it is read: after a deployment, what does not fit any more is no session. Data travels as
   * JSON, so the schema must accept what JSON makes of it.
   */
  readonly schema: ZodType<Data>
  /** Seconds from the last `set` or renewal to the end of the session: 1 to 400 days, 14 days unless told. */
  readonly maxAgeSeconds?: number
}

/** One visitor's session during one request. What is changed is sent with this answer, by one header a cookie. */
export interface Session<Data> {
  /** `undefined` where there is no session. Changed by `set` only. */
  readonly data: Readonly<Data> | undefined
  /**
   * Begins the session, or replaces its data. Await it: the header is there when the promise has settled.
   * @throws {TypeError} for data that the schema refuses.
   * @throws {CookieSizeError} when the cookie would be larger than browsers keep.
   */
  set(data: Data): Promise<void>
  /** Lets the session begin its age anew when more than half of it is over; else, and without a session, does nothing. */
  renew(): Promise<void>
  /** Ends the session in this browser. The flash message stays. */
  clear(): void
  /**
   * Leaves a message for the next page, in a cookie of its own. Await it. A later message replaces an earlier one.
   * @throws {CookieSizeError} when the text is too long for a cookie.
   */
  flash(text: string): Promise<void>
  /** The message that was left, once; `undefined` where there is none, and in an answer that is fetched ahead. */
  takeFlash(): string | undefined
}

/** A kind of session. */
export interface SessionKind<Data> {
  /** The session of a request: the same object for all who ask during that request, be it action or loader. */
  open(context: SessionContext): Promise<Session<Data>>
}

/**
 * Declares a kind of session: encrypted, in a cookie of the visitor, with nothing kept on the server.
 * @param now clock, in ms since the epoch; for tests.
 * @throws {RangeError} for a name or an age that no cookie can have.
 */
export function defineSession<Data>(options: SessionOptions<Data>, now: () => number = Date.now): SessionKind<Data> {
  const { name = 'session', schema, maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS } = options
  if (!NAME.test(name)) {
    throw new RangeError(`defineSession: name ${JSON.stringify(name)} is not 1 to 64 letters, digits, - and _`)
  }
  if (!Number.isSafeInteger(maxAgeSeconds) || maxAgeSeconds < 1 || maxAgeSeconds > MOST_MAX_AGE_SECONDS) {
    throw new RangeError(
      `defineSession: maxAgeSeconds ${maxAgeSeconds} is no whole number from 1 to ${MOST_MAX_AGE_SECONDS} (400 days)`,
    )
  }

  const checkData = async (stored: unknown): Promise<Checked<Data>> => {
    const { success, data, error } = await schema.safeParseAsync(stored)
    if (success) return { value: data }
    return { fault: error.issues.map(({ path, message }) => [...path.map(String), message].join(': ')).join('; ') }
  }
  /** On the context itself: a weak map would hold each request, to which its session leads back, for long after its end. */
  const opened = Symbol(`millrace.session.${name}`)

  const openFor = async (context: SessionContext): Promise<Session<Data>> => {
    const [main, message] = await Promise.all([
      SealedCookie.open(context, { name: sealedCookieName(name, context), maxAgeSeconds, check: checkData, now }),
      // A name of its own, and a dot in it, which no session's name has. Taking the message must not write the session:
      // an answer that comes late would bring back what has been signed out meanwhile.
      SealedCookie.open(context, {
        name: sealedCookieName(`${name}.flash`, context),
        maxAgeSeconds: FLASH_MAX_AGE_SECONDS,
        check: checkText,
        now,
      }),
    ])
    return new OpenSession(main, {
      set: (data) => handled(main.write(data)),
      renew: () => handled(main.ageSeconds > maxAgeSeconds / 2 ? main.rewrite() : Promise.resolve()),
      clear: () => main.erase(),
      flash: (text) => handled(message.write(text)),
      takeFlash: () => {
        const text = message.value
        if (text === undefined || context.prefetch === true) return undefined
        message.erase()
        return text
      },
    })
  }

  return {
    open(context: SessionContext & { [opened]?: Promise<Session<Data>> }) {
      return (context[opened] ??= openFor(context))
    },
  }
}

/** No literal with a getter: that would outlive its request; see `http/own-getters.ts`. */
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

/** A change that nobody awaits and that fails must not end the process; whoever awaits it still gets the failure. */
function handled(change: Promise<void>): Promise<void> {
  change.catch(() => undefined)
  return change
}

async function checkText(stored: unknown): Promise<Checked<string>> {
  return typeof stored === 'string' ? { value: stored } : { fault: 'a message is a text' }
}
