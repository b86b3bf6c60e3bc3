import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { makeFolder } from '../stores/make-folder.ts'

const NAME = 'secret-keys'
const KEY_BYTES = 32 // the most that SHA-256 and AES-256 use
const KEY_LINE = /^[\w-]{43}$/ // 32 bytes in base64url
const OWNER_ONLY = 0o600

/** The file of secret keys is unusable; the message names the file, the fault and the remedy. */
export class SecretKeysError extends Error {
  override readonly name = 'SecretKeysError'
  /** Absolute path of the file. */
  readonly path: string

  constructor(path: string, fault: string, options?: ErrorOptions) {
    super(
      `${path}: ${fault}; restore the file, or delete it and restart (which signs everybody out), or set SECRET_KEYS`,
      options,
    )
    this.path = path
  }
}

/**
 * The keys in `<dataDir>/secret-keys`, one per line in base64url; creates the file with one new key if it is missing.
 * Processes that start at once agree on one file, and an existing file is never written. If no file can be made, the
 * keys belong to this process alone, and `log` gets a warning.
 * @throws {SecretKeysError} for a file that is unreadable or invalid.
 */
export function readOrMakeKeys(dataDir: string, log: Pick<Logger, 'warn'>): readonly string[] {
  const path = join(dataDir, NAME)
  const kept = readKeys(path)
  if (kept !== undefined) return kept
  const key = randomBytes(KEY_BYTES).toString('base64url')
  try {
    makeFile(dataDir, path, `${key}\n`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST' || readKeys(path) === undefined) {
      log.warn(
        { path, err: { message } },
        'secret keys cannot be kept: sessions end with this process and are not shared with others; ' +
          'set SECRET_KEYS, or make DATA_DIR writable',
      )
      return [key]
    }
  }
  // Another process may have been first: the keys in the file count.
  return readKeys(path) ?? [key]
}

/** @returns `undefined` if there is no file. */
function readKeys(path: string): readonly string[] | undefined {
  let content: string
  try {
    // To read a pipe would wait for its writer, with everybody else.
    if (!statSync(path).isFile()) throw new SecretKeysError(path, 'is not a regular file')
    content = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (error instanceof SecretKeysError) throw error
    throw new SecretKeysError(path, `cannot be read (${code ?? message})`, { cause: error })
  }
  const lines = content.split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line !== '')
  if (keys.length === 0) throw new SecretKeysError(path, 'is empty, but must contain one secret key per line')
  const wrong = lines.findIndex((line) => line !== '' && !KEY_LINE.test(line))
  if (wrong >= 0) {
    throw new SecretKeysError(path, `line ${wrong + 1} is not a secret key, which has 43 letters, digits, - and _`)
  }
  return keys
}

/**
 * Creates a file atomically.
 * @throws with the code `EEXIST` if it already exists.
 */
function makeFile(folder: string, path: string, content: string): void {
  makeFolder(folder)
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const file = openSync(draft, 'wx', OWNER_ONLY)
  try {
    try {
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    // Unlike a rename, a link does not replace a file of another process.
    linkSync(draft, path)
  } finally {
    unlinkSync(draft)
  }
}
