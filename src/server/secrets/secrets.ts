import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import { createKeyRing } from './key-ring.ts'
import { readOrMakeKeys } from './key-file.ts'

/** Signs and encrypts with the secret keys of the server. The first key makes new texts, all of them read. */
export interface Secrets {
  /**
   * Signs a text: readable by everybody, alterable by nobody.
   * @param purpose what the text is for; for any other purpose it will not verify.
   * @returns `v1.<text>.<signature>`, both in base64url: no form, URL or cookie changes it.
   */
  sign(purpose: string, value: string): string
  /** The text that was signed for this purpose; `undefined` for anything else. */
  verify(purpose: string, text: string): string | undefined
  /**
   * Encrypts what JSON can say.
   * @param maxAgeSeconds after which the text is worth nothing; a whole number from 1.
   * @returns a JWE in compact form (RFC 7516): letters, digits, `-`, `_` and dots.
   * @throws {RangeError} for another age.
   * @throws {TypeError} for `undefined`, and for what JSON cannot say.
   */
  encrypt(purpose: string, value: unknown, maxAgeSeconds: number): Promise<string>
  /** What was encrypted for this purpose; `undefined` if the text is not ours, altered or too old. */
  decrypt(purpose: string, text: string): Promise<unknown>
}

const HEADER = { alg: 'dir', enc: 'A256GCM' } as const
const SIGNED = /^v1\.([\w-]*)\.([\w-]{43})$/ // 43 characters are the 32 bytes of SHA-256

/**
 * Makes the secrets of given keys.
 * @param keys the first signs and encrypts; all verify and decrypt.
 * @param now clock of expiry, in ms since the epoch.
 * @throws {RangeError} without keys, and for an empty key.
 */
export function createSecrets(keys: readonly string[], now: () => number = Date.now): Secrets {
  const ring = createKeyRing(keys)
  const newest = (use: 'sign' | 'encrypt', purpose: string): KeyObject => ring.keysFor(use, purpose)[0] as KeyObject

  return {
    sign(purpose, value) {
      const payload = Buffer.from(value).toString('base64url')
      return `v1.${payload}.${signature(newest('sign', purpose), payload)}`
    },

    verify(purpose, text) {
      const [, payload, given] = SIGNED.exec(text) ?? []
      if (payload === undefined || given === undefined) return undefined
      // The written form is compared: of 43 characters the last has two bits that decoding would drop.
      const ours = ring.keysFor('sign', purpose).some((key) => isSame(signature(key, payload), given))
      return ours ? Buffer.from(payload, 'base64url').toString() : undefined
    },

    async encrypt(purpose, value, maxAgeSeconds) {
      if (!Number.isSafeInteger(maxAgeSeconds) || maxAgeSeconds < 1) {
        throw new RangeError(`encrypt: ${maxAgeSeconds} is no age; it is a whole number of seconds, 1 or more`)
      }
      if (value === undefined) throw new TypeError('encrypt: undefined cannot be kept')
      const { EncryptJWT } = await import('jose')
      return new EncryptJWT({ value })
        .setProtectedHeader(HEADER)
        .setExpirationTime(Math.floor(now() / 1_000) + maxAgeSeconds)
        .encrypt(newest('encrypt', purpose))
    },

    async decrypt(purpose, text) {
      if (!hasOneSpelling(text)) return undefined
      const { jwtDecrypt } = await import('jose')
      for (const key of ring.keysFor('encrypt', purpose)) {
        try {
          const { payload } = await jwtDecrypt(text, key, {
            keyManagementAlgorithms: [HEADER.alg],
            contentEncryptionAlgorithms: [HEADER.enc],
            currentDate: new Date(now()),
          })
          return payload['value']
        } catch {
          // Whatever is wrong with it, it comes from outside and is no session of ours: not with this key.
        }
      }
      return undefined
    },
  }
}

/**
 * The secrets of this server: of `SECRET_KEYS`, else of the keys that are kept in `DATA_DIR`. Nothing is read or written
 * before the first use; that use is synchronous, later ones do not touch the disk.
 * @param log told once when keys can only be held in memory.
 * @throws {SecretKeysError} by each use, while the file of keys cannot be used.
 */
export function openSecrets(
  config: { readonly secretKeys: readonly string[]; readonly dataDir: string },
  log: Pick<Logger, 'warn'>,
): Secrets {
  let opened: Secrets | undefined
  const open = (): Secrets =>
    (opened ??= createSecrets(config.secretKeys.length > 0 ? config.secretKeys : readOrMakeKeys(config.dataDir, log)))
  return {
    sign: (purpose, value) => open().sign(purpose, value),
    verify: (purpose, text) => open().verify(purpose, text),
    encrypt: async (purpose, value, maxAgeSeconds) => open().encrypt(purpose, value, maxAgeSeconds),
    decrypt: async (purpose, text) => open().decrypt(purpose, text),
  }
}

function signature(key: KeyObject, payload: string): string {
  return createHmac('sha256', key).update(payload).digest('base64url')
}

/** Compares two texts of one length in a time that does not tell where they differ. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left), Buffer.from(right))
}

/** Whether a compact JWE is written as we would write it: base64url has spare bits that decoding drops. */
function hasOneSpelling(text: string): boolean {
  return text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}
