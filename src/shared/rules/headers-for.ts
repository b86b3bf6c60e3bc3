import type { Capture } from './captures.ts'
import type { CompiledRules } from './compile-rules.ts'
import type { RuleRequest, RuleSubject } from './rule-request.ts'
import { captureParts } from './captures.ts'
import { subjectOf } from './rule-request.ts'
import { fillTemplate } from './text-template.ts'

/** A header's name and its value. */
type HeaderField = readonly [name: string, value: string]

const NONE: readonly never[] = []
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/i
const UNSAFE_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/gu
/** Ends a member of a header's value: a directive, an attribute of a cookie, a tag of a list. */
const DELIMITER = /[\t ",;<>\\]/g
/** Whoever invents a header knows its form; all others have members. */
const OWN_NAME = /^x-/i

/**
 * The headers of all rules that match a request. If two set the same header, the later one wins; `Set-Cookie` is kept
 * from both.
 * @param subject of the request, if it exists already.
 */
export function headersFor(
  rules: CompiledRules,
  request: RuleRequest,
  subject: RuleSubject = subjectOf(request),
): readonly HeaderField[] {
  if (rules.headers.size === 0) return NONE
  const first = rules.headers.find(subject, 0)
  if (first === undefined) return NONE
  const cookies: HeaderField[] = []
  const fields = new Map<string, HeaderField>()
  for (let hit: typeof first | undefined = first; hit; hit = rules.headers.find(subject, hit.index + 1)) {
    for (const { key, value } of hit.rule.headers) {
      const name = fillTemplate(key, hit.captures, headerParts)
      // A visitor's text may have made it an invalid name.
      if (!HEADER_NAME.test(name)) continue
      const textOf = OWN_NAME.test(name) ? headerParts : memberParts
      const field = [name, fillTemplate(value, hit.captures, textOf)] as const
      if (name.toLowerCase() === 'set-cookie') cookies.push(field)
      else fields.set(name.toLowerCase(), field)
    }
  }
  return [...fields.values(), ...cookies]
}

/** As captured; characters that a header must not contain, above all line breaks, are percent-encoded. */
function headerParts(capture: Capture): readonly string[] {
  return captureParts(capture).map((part) => part.toWellFormed().replace(UNSAFE_IN_VALUE, encodeURIComponent))
}

/** As one member: a visitor's text adds no directive to a policy and no attribute to a cookie. */
function memberParts(capture: Capture): readonly string[] {
  return headerParts(capture).map((part) => part.replace(DELIMITER, encodeURIComponent))
}
