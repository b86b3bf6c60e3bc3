/** Props of `Moment`. */
export interface MomentProps {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Now, by the server's clock: server and browser must show the same. Without it, the moment itself is shown. */
  readonly now?: number
}

const STEPS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
] as const
const MS_A_SECOND = 1_000

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A moment. A relative time has the exact one as its title. */
export function Moment({ at, now }: MomentProps) {
  const moment = new Date(at).toISOString()
  const exact = `${moment.slice(0, moment.indexOf('T'))} ${moment.slice(-13, -5)} UTC`
  return now === undefined ? (
    <time dateTime={moment}>{exact}</time>
  ) : (
    <time dateTime={moment} title={exact}>
      {relativeTime(at - now)}
    </time>
  )
}

/**
 * `3 minutes ago`.
 * @param ms until the moment; negative for the past.
 */
export function relativeTime(ms: number): string {
  let amount = Math.trunc(ms / MS_A_SECOND)
  for (const [unit, most] of STEPS) {
    if (Math.abs(amount) < most) return RELATIVE.format(amount, unit)
    amount = Math.trunc(amount / most)
  }
  return RELATIVE.format(amount, 'year')
}
