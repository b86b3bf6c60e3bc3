/** Categories by which the service limits and counts (https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/). */
type ReportCategory =
  | 'attachment'
  | 'default'
  | 'error'
  | 'feedback'
  | 'internal'
  | 'log_item'
  | 'monitor'
  | 'profile'
  | 'profile_chunk'
  | 'replay'
  | 'security'
  | 'session'
  | 'span'
  | 'trace_metric'
  | 'transaction'

const CATEGORIES = {
  attachment: 'attachment',
  check_in: 'monitor',
  client_report: 'internal',
  event: 'error',
  feedback: 'feedback',
  log: 'log_item',
  metric: 'trace_metric',
  profile: 'profile',
  profile_chunk: 'profile_chunk',
  raw_security: 'security',
  replay_event: 'replay',
  replay_recording: 'replay',
  replay_video: 'replay',
  security: 'security',
  session: 'session',
  sessions: 'session',
  span: 'span',
  trace_metric: 'trace_metric',
  transaction: 'transaction',
  user_report: 'default',
} as const satisfies Record<string, ReportCategory>

/** The category of an item; `undefined` for an unknown type. */
export function itemCategory(type: string): ReportCategory | undefined {
  return Object.hasOwn(CATEGORIES, type) ? CATEGORIES[type as keyof typeof CATEGORIES] : undefined
}

/** Items that must not be dropped in favour of others: errors, and users' comments on them. */
export function isPrecious(category: ReportCategory | undefined): boolean {
  return category === 'error' || category === 'default' || category === 'feedback'
}
