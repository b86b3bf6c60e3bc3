import type { RuntimeSecrets, Secrets } from './secrets.ts'

/**
 * Prefixes of the runtime's own purposes: bound arguments are signed for `action <id>`, sessions are encrypted for
 * `cookie <name>`, and later ones begin with `runtime`. With a base path, that is in front of them.
 */
const RESERVED = /^(?:\/\S* )?(?:action|cookie|runtime|application) /

/**
 * The secrets of `context.secrets`. An application can name no purpose that derives a key of the runtime: purposes with
 * a prefix of the runtime are prefixed with `application `. Other purposes keep their keys, and so does the runtime.
 */
export class ApplicationSecrets implements Secrets {
  readonly #runtime: RuntimeSecrets

  constructor(runtime: RuntimeSecrets) {
    this.#runtime = runtime
  }

  /** The runtime's secrets that an application's use; any others are returned unchanged. */
  static runtimeOf(secrets: Secrets): RuntimeSecrets {
    return #runtime in secrets ? secrets.#runtime : (secrets as RuntimeSecrets)
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

/** Different purposes stay different, because `application ` is reserved too. */
function applicationPurpose(purpose: string): string {
  return RESERVED.test(purpose) ? `application ${purpose}` : purpose
}
