import { createHash } from 'node:crypto'

/** The length of hashes in names: 40 bits or more distinguish the files of one build. */
const SHORT = 10

/** SHA-256 over parts, each delimited so that no two lists of parts have the same input; hexadecimal. */
export function contentHash(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest('hex')
}

/** The beginning of `contentHash`, for file and class names. */
export function shortHash(...parts: readonly (string | Uint8Array)[]): string {
  return contentHash(...parts).slice(0, SHORT)
}
