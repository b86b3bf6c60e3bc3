const RADIUS = 2

/**
 * The keys beside a key of `/lab/cache/[key]`, itself included.
 * @returns five numbers in a row, from 1 up; for a key that is no number, the first five.
 */
export function neighboursOf(key: string): readonly string[] {
  const centre = /^[1-9]\d{0,8}$/.test(key) ? Number(key) : 1
  const first = Math.max(1, centre - RADIUS)
  return Array.from({ length: 2 * RADIUS + 1 }, (_, offset) => String(first + offset))
}
