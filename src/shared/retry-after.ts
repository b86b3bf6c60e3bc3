const MAX_DELAY_MS = 2 ** 31 - 1 // timers fire at once for a longer delay

// The three forms of RFC 9110, section 5.6.7. `Date.parse` alone accepts almost any text with a digit.
const HTTP_DATE = /^[A-Z][a-z]+,? [\w -]+ \d\d:\d\d:\d\d (GMT|\d{4})$/

/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3): seconds or an HTTP date.
 * @param header `null` or `undefined` if missing.
 * @param now milliseconds since 1970.
 * @returns milliseconds from now, from 0 to the maximum of a timer (24 days); `undefined` for an invalid header.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  let delay = NaN
  if (/^\d+$/.test(text)) delay = Number(text) * 1000
  // The `asctime` form does not name its zone, and would be read as local time.
  else if (HTTP_DATE.test(text)) delay = Date.parse(text.replace(/( GMT)?$/, ' GMT')) - now
  return Number.isNaN(delay) ? undefined : Math.min(Math.max(delay, 0), MAX_DELAY_MS)
}
