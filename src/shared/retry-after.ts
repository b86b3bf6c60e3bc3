const MAX_DELAY_MS = 2 ** 31 - 1 // a timer of more than that fires at once

// The three forms of RFC 9110, section 5.6.7. `Date.parse` alone takes almost anything that has a digit in it.
const HTTP_DATE = /^[A-Z][a-z]+,? [\w -]+ \d\d:\d\d:\d\d (GMT|\d{4})$/

/**
 * Reads a `Retry-After` header (RFC 9110, section 10.2.3): seconds or an HTTP date.
 * @param header `null` or `undefined` where there is none.
 * @param now milliseconds since 1970.
 * @returns milliseconds from now, from 0 to what a timer can count (24 days); `undefined` for anything else.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  let delay = NaN
  if (/^\d+$/.test(text)) delay = Number(text) * 1000
  // The form of `asctime` does not name its zone, and would be read as local time.
  else if (HTTP_DATE.test(text)) delay = Date.parse(text.replace(/( GMT)?$/, ' GMT')) - now
  return Number.isNaN(delay) ? undefined : Math.min(Math.max(delay, 0), MAX_DELAY_MS)
}
