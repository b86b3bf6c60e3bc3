import type { Secrets } from './secrets.ts'

/**
 * How the runtime's own purposes begin: bound arguments are signed for `action <id>`, sessions are encrypted for
 * `cookie <name>`, and later ones begin with `runtime`.
 */
const RESERVED = /^(?:action|cookie|runtime|application) /

/**
 * The secrets that an application gets as `context.secrets`. No purpose it can name leads to a key of the runtime: those
 * that begin as the runtime's do are put behind `application `. Other purposes keep their keys, and so does the runtime.
 */
export class ApplicationSecrets implements Secrets {
  readonly #runtime: Secrets

  constructor(runtime: Secrets) {
    this.#runtime = runtime
  }

  /** The runtime's secrets behind those of an application; any others are returned as they are. */
  static runtimeOf(secrets: Secrets): Secrets {
    return #runtime in secrets ? secrets.#runtime : secrets
  }

  sign(purpose: string, value: string): string {
    return this.#runtime.sign(applicationPurpose(purpose), value)
  }

  verify(purpose: string, text: string): string | undefined {
    return this.#runtime.verify(applicationPurpose(purpose), text)
  }

  encrypt(purpose: string, value: unknown, maxAgeSeconds: number): Promise<string> {
    return this.#runtime.encrypt(applicationPurpose(purpose), value, maxAgeSeconds)
  }

  decrypt(purpose: string, text: string): Promise<unknown> {
    return this.#runtime.decrypt(applicationPurpose(purpose), text)
  }
}

/** Different purposes stay different: `application ` is reserved, too. */
function applicationPurpose(purpose: string): string {
  return RESERVED.test(purpose) ? `application ${purpose}` : purpose
}
