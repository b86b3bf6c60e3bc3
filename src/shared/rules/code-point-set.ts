/** A set of code points: sorted pairs of first and last one, without overlap. */
export type CodePointSet = readonly (readonly [first: number, last: number])[]

/** The last valid code point. */
const LAST = 0x10_ff_ff

/** Sorts ranges and joins those that touch. */
export function codePointSet(ranges: CodePointSet): CodePointSet {
  const set: [number, number][] = []
  for (const [first, last] of ranges.toSorted(([left], [right]) => left - right)) {
    const before = set.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else set.push([first, last])
  }
  return set
}

/** All code points that are not in the set. */
export function complementOf(set: CodePointSet): CodePointSet {
  const gaps: [number, number][] = []
  let next = 0
  for (const [first, last] of set) {
    if (first > next) gaps.push([next, first - 1])
    next = last + 1
  }
  if (next <= LAST) gaps.push([next, LAST])
  return gaps
}

/** Whether a code point is in the set. */
export function includesCodePoint(set: CodePointSet, code: number): boolean {
  return set.some(([first, last]) => first <= code && code <= last)
}

const CASE_STEP = 0x20 // from an ASCII capital to its small letter

/** Adds the other case of each ASCII letter in the set. */
export function withBothCases(set: CodePointSet): CodePointSet {
  const added: [number, number][] = []
  for (const [start, end, step] of [
    [0x41, 0x5a, CASE_STEP],
    [0x61, 0x7a, -CASE_STEP],
  ] as const) {
    for (const [first, last] of set) {
      const [from, to] = [Math.max(first, start), Math.min(last, end)]
      if (from <= to) added.push([from + step, to + step])
    }
  }
  return added.length === 0 ? set : codePointSet([...set, ...added])
}
