import type { Href } from './link-target.ts'

/** Schemes that run script in this page. Parsers drop control characters and spaces before and inside the scheme. */
const SCRIPT_URL =
  // oxlint-disable-next-line no-control-regex -- those characters are what the guard is about
  /^[\u0000-\u0020]*(?:unsafe|j[\s]*a[\s]*v[\s]*a[\s]*s[\s]*c[\s]*r[\s]*i[\s]*p[\s]*t|v[\s]*b[\s]*s[\s]*c[\s]*r[\s]*i[\s]*p[\s]*t|d[\s]*a[\s]*t[\s]*a)[\s]*:/i

/** Whether a URL would run script, or is one that `external` has disarmed. */
export function runsScript(url: string): boolean {
  // A path is by far the most common case and can carry no scheme.
  return url.charCodeAt(0) !== 0x2f && SCRIPT_URL.test(url)
}

/**
 * Accepts a text as the target of a link, of `navigate` or of `redirect` that the compiler and the build cannot check: an
 * address from a database, a path that middleware answers.
 * @returns the text unchanged; one that would run script (`javascript:`, `data:`, `vbscript:`) with `unsafe:` in front, which
 * no browser follows, `Link` drops, `navigate` throws for, and `redirect` refuses.
 */
export function external(text: string): Href {
  return (runsScript(text) ? `unsafe:${text}` : text) as Href
}
