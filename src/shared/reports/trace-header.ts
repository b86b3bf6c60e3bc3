/**
 * The two headers by which the error service's SDKs continue a trace: `sentry-trace` (trace, span, decision) and the
 * `sentry-` members of W3C `baggage`, which describe the sampling. https://develop.sentry.dev/sdk/telemetry/traces/
 */

/** The parent span of a piece of work. */
interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the trace is sampled; `undefined` if the receiver may decide. */
  readonly sampled: boolean | undefined
}

const TRACE = /^\s*([0-9a-f]{32})-([0-9a-f]{16})(?:-([01]))?\s*$/i
const MEMBER_PREFIX = 'sentry-'
const MOST_BAGGAGE_CHARACTERS = 8_192 // W3C's own limit
const MOST_MEMBERS = 16 // SDKs write nine

/** Parses `sentry-trace`. @returns `undefined` for an invalid one. */
export function parseTraceHeader(text: string | undefined): TraceParent | undefined {
  if (text === undefined) return undefined
  const [, traceId, spanId, flag] = TRACE.exec(text) ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  return {
    traceId: traceId.toLowerCase(),
    spanId: spanId.toLowerCase(),
    sampled: flag === undefined ? undefined : flag === '1',
  }
}

/** Formats `sentry-trace`. */
export function traceHeader({ traceId, spanId, sampled }: TraceParent): string {
  return `${traceId}-${spanId}${sampled === undefined ? '' : sampled ? '-1' : '-0'}`
}

/** The trace's members of `baggage`, by name without prefix; other members are ignored. */
export function parseBaggage(text: string | undefined): Readonly<Record<string, string>> {
  const members: Record<string, string> = {}
  if (text === undefined || text.length > MOST_BAGGAGE_CHARACTERS) return members
  for (const member of text.split(',')) {
    const at = member.indexOf('=')
    const name = member.slice(0, Math.max(at, 0)).trim()
    if (!/^sentry-[a-z_]{1,32}$/.test(name) || Object.keys(members).length >= MOST_MEMBERS) continue
    const value = decoded(member.slice(at + 1).trim())
    if (value !== undefined) members[name.slice(MEMBER_PREFIX.length)] = value
  }
  return members
}

/** Formats `baggage`. */
export function baggageHeader(members: Readonly<Record<string, string>>): string {
  return Object.entries(members)
    .map(([name, value]) => `${MEMBER_PREFIX}${name}=${encodeURIComponent(value)}`)
    .join(',')
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
