import { storedKey } from './stored-key.ts'

const PREFIX = 'millrace:1' // increase when the format of values changes: old and new builds may run side by side

/**
 * The name of a key in the shared store.
 * @param kind what it is: `limit`, `once`.
 * @param key texts of any length take bounded space. The braces keep all parts of one key on one node of a cluster, as
 * scripts require.
 */
export function sharedKey(kind: string, key: string): string {
  return `${PREFIX}:${kind}:{${storedKey(key)}}`
}
