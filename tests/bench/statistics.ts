/**
 * The middle of a list; between the two middle ones where their number is even.
 * @throws {RangeError} for an empty list.
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  if (upper === undefined || lower === undefined) throw new RangeError('No median of nothing.')
  return (lower + upper) / 2
}

/** A point of a line. */
interface Point {
  readonly x: number
  readonly y: number
}

/**
 * The slope of the line that fits best (least squares): growth of `y` for one more `x`.
 * @throws {RangeError} for fewer than two different `x`.
 */
export function slope(points: readonly Point[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  if (!(spread > 0)) throw new RangeError('A slope needs two different points.')
  return points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread
}
