import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import { basePath } from '../../shared/base-path.ts'
import { createKeyRing, type KeyRing } from './key-ring.ts'
import { readOrMakeKeys } from './key-file.ts'

/** Signs and encrypts with the server's secret keys. The first key signs and encrypts, all verify and decrypt. */
export interface Secrets {
  /**
   * Signs a text: everybody can read it, nobody can alter it.
   * @param purpose what the text is for; it does not verify for another purpose.
   * @returns `v1.<text>.<signature>`, both in base64url: safe in forms, URLs and cookies.
   */
  sign(purpose: string, value: string): string
  /** The text, if it was signed for this purpose; otherwise `undefined`. */
  verify(purpose: string, text: string): string | undefined
  /**
   * Encrypts a JSON value.
   * @param maxAgeSeconds lifetime of the text; a whole number from 1.
   * @returns a compact JWE (RFC 7516): letters, digits, `-`, `_` and dots.
   * @throws {RangeError} for an invalid lifetime.
   * @throws {TypeError} for `undefined`, and for values that JSON cannot represent.
   */
  encrypt(purpose: string, value: unknown, maxAgeSeconds: number): Promise<string>
  /** The value, if it was encrypted for this purpose; `undefined` if the text is foreign, altered or expired. */
  decrypt(purpose: string, text: string): Promise<unknown>
}

/** `Secrets` for the runtime's own uses. */
export interface RuntimeSecrets extends Secrets {
  /** The signature of a text by each key, the newest first. */
  signatures(purpose: string, value: string): readonly string[]
}

const HEADER = { alg: 'dir', enc: 'A256GCM' } as const
const SIGNED = /^v1\.([\w-]*)\.([\w-]{43})$/ // 43 characters are the 32 bytes of SHA-256

/**
 * Creates secrets from keys.
 * @param keys the first signs and encrypts; all verify and decrypt.
 * @param now clock for expiry, in ms since the epoch.
 * @throws {RangeError} without keys, and for an empty key.
 */
export function createSecrets(keys: readonly string[], now: () => number = Date.now): RuntimeSecrets {
  const ring = ringOfBase(createKeyRing(keys))
  const newest = (use: 'sign' | 'encrypt', purpose: string): KeyObject => ring.keysFor(use, purpose)[0] as KeyObject

  return {
    sign(purpose, value) {
      const payload = Buffer.from(value).toString('base64url')
      return `v1.${payload}.${signature(newest('sign', purpose), payload)}`
    },

    signatures(purpose, value) {
      const payload = Buffer.from(value).toString('base64url')
      return ring.keysFor('sign', purpose).map((key) => signature(key, payload))
    },

    verify(purpose, text) {
      const [, payload, given] = SIGNED.exec(text) ?? []
      if (payload === undefined || given === undefined) return undefined
      // Compares the encoded form: the last of its 43 characters has two bits that decoding would drop.
      const ours = ring.keysFor('sign', purpose).some((key) => isSame(signature(key, payload), given))
      return ours ? Buffer.from(payload, 'base64url').toString() : undefined
    },

    async encrypt(purpose, value, maxAgeSeconds) {
      if (!Number.isSafeInteger(maxAgeSeconds) || maxAgeSeconds < 1) {
        throw new RangeError(
          `encrypt: ${maxAgeSeconds} is not a lifetime, which is a whole number of seconds, 1 or more`,
        )
      }
      if (value === undefined) throw new TypeError('encrypt: undefined cannot be encrypted')
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
          // The text is from outside: whatever the error, this key did not encrypt it.
        }
      }
      return undefined
    },
  }
}

/**
 * The secrets of this server: from `SECRET_KEYS`, otherwise from the keys stored in `DATA_DIR`. Nothing is read or
 * written before the first use, which is synchronous; later uses do not touch the disk.
 * @param log gets one warning if keys exist only in memory.
 * @param now clock for expiry, in ms since the epoch.
 * @throws {SecretKeysError} on each use while the key file is unusable.
 */
export function openSecrets(
  config: { readonly secretKeys: readonly string[]; readonly dataDir: string },
  log: Pick<Logger, 'warn'>,
  now?: () => number,
): RuntimeSecrets {
  let opened: RuntimeSecrets | undefined
  const open = (): RuntimeSecrets =>
    (opened ??= createSecrets(
      config.secretKeys.length > 0 ? config.secretKeys : readOrMakeKeys(config.dataDir, log),
      now,
    ))
  return {
    sign: (purpose, value) => open().sign(purpose, value),
    signatures: (purpose, value) => open().signatures(purpose, value),
    verify: (purpose, text) => open().verify(purpose, text),
    encrypt: async (purpose, value, maxAgeSeconds) => open().encrypt(purpose, value, maxAgeSeconds),
    decrypt: async (purpose, text) => open().decrypt(purpose, text),
  }
}

/** Applications with the same keys on one host cannot read each other's texts: purposes begin with the base path, if any. */
function ringOfBase(ring: KeyRing): KeyRing {
  const base = basePath()
  return base === '' ? ring : { keysFor: (use, purpose) => ring.keysFor(use, `${base} ${purpose}`) }
}

function signature(key: KeyObject, payload: string): string {
  return createHmac('sha256', key).update(payload).digest('base64url')
}

/** Compares two texts of equal length in constant time. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left), Buffer.from(right))
}

/** Whether a compact JWE has our spelling: base64url has spare bits that decoding drops. */
function hasOneSpelling(text: string): boolean {
  return text.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}
