import { storedKey } from './stored-key.ts'

const PREFIX = 'millrace:1' // increase when the format of values changes: old and new builds may run side by side

/**
 * The name of something in the shared store.
 * @param kind what it is: `limit`, `once`.
 * @param key texts of any length take bounded space. In braces, so that a cluster keeps all that belongs to it in one
 * place, as a script needs it.
 */
export function sharedKey(kind: string, key: string): string {
  return `${PREFIX}:${kind}:{${storedKey(key)}}`
}
