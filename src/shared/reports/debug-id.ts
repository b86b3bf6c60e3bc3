/**
 * Debug ids: each identifies a built script and its source map, wherever they are stored. The browser's file names end
 * with a hash of script and map, so the id is derived from the name: the files need no additions, and the page knows
 * the id from the frames of a stack.
 */

const SEEDS = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35] // any four different numbers
const FNV_PRIME = 0x01000193

/** The id of a built file: a UUID of version 8, whose digits are free to define. @param name without folders. */
export function debugIdOf(name: string): string {
  const digits = SEEDS.map((seed) => digitsOf(name, seed)).join('')
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20),
  ]
  return parts.join('-')
}

/** FNV-1a over UTF-16 units, with its bits mixed again, as eight hexadecimal digits. */
function digitsOf(text: string, seed: number): string {
  let hash = seed
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return ((hash ^ (hash >>> 15)) >>> 0).toString(16).padStart(8, '0')
}
