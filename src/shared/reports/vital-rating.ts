/** Rating of a web vital, by the bounds of https://web.dev/articles/vitals. */
type VitalRating = 'good' | 'needs-improvement' | 'poor'

/** The largest good value, and the largest that is not poor. Milliseconds; `cls` has no unit. */
const VITAL_BOUNDS = {
  lcp: [2_500, 4_000],
  inp: [200, 500],
  cls: [0.1, 0.25],
  fcp: [1_800, 3_000],
  ttfb: [800, 1_800],
} as const satisfies Readonly<Record<string, readonly [good: number, fair: number]>>

/** Names of the web vitals, in lower case. */
export type VitalName = keyof typeof VITAL_BOUNDS

/** Whether this is the name of a web vital. */
export function isVitalName(name: string): name is VitalName {
  return Object.hasOwn(VITAL_BOUNDS, name)
}

/** Rates a value. @param value milliseconds, or the layout shift's score. */
export function rateVital(name: VitalName, value: number): VitalRating {
  const [good, fair] = VITAL_BOUNDS[name]
  return value <= good ? 'good' : value <= fair ? 'needs-improvement' : 'poor'
}
