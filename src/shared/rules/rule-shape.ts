/** The shape of rules, before their texts are compiled. Applications may have written their tables without types. */
import type { Refuse, RuleKind } from './rule-error.ts'

/** A rule after the check of its shape. */
export type RuleFields = Readonly<Record<string, unknown>>

const COMMON_FIELDS = ['source', 'has', 'missing', 'basePath', 'locale']
const FIELDS: Readonly<Record<RuleKind, readonly string[]>> = {
  redirect: [...COMMON_FIELDS, 'destination', 'permanent', 'statusCode'],
  rewrite: [...COMMON_FIELDS, 'destination', 'websocket', 'encodedSlashes'],
  header: [...COMMON_FIELDS, 'headers'],
}

const REDIRECT_STATUSES: readonly unknown[] = [301, 302, 303, 307, 308]

/** RFC 9110, section 5.6.2. In a table, a colon may begin a param. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z:]+$/i
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Only the server knows the length of a message and the state of a connection. */
const FRAMING_HEADERS = ['connection', 'content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade']

/** @throws the errors of `refuse`. */
export function checkFields(rule: unknown, kind: RuleKind, refuse: Refuse): asserts rule is RuleFields {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) {
    return refuse('rule-not-object', 'the rule is not an object', 'Write { source, … }')
  }
  for (const [field, value] of Object.entries(rule)) {
    if (!FIELDS[kind].includes(field)) {
      refuse('unknown-field', `a ${kind} has no field "${field}"`, `Its fields are ${FIELDS[kind].join(', ')}`)
    }
    if (field === 'websocket' && value !== undefined && value !== 'cross-site') {
      refuse(
        'unknown-field',
        `websocket may only be 'cross-site'`,
        'Leave it out to accept only handshakes of this site',
      )
    }
    if (field === 'encodedSlashes' && value !== undefined && value !== true) {
      refuse('unknown-field', 'encodedSlashes may only be true', 'Leave it out to refuse encoded slashes')
    }
    if ((field === 'basePath' || field === 'locale') && value !== undefined && value !== false) {
      refuse('unknown-field', `${field} may only be false`, 'Base paths and locales do not exist here: leave it out')
    }
  }
}

/** @throws the errors of `refuse`. */
export function checkSource(source: unknown, refuse: Refuse): string {
  if (source === undefined || source === null || source === '') {
    return refuse('source-missing', 'the rule has no source', 'Add the path to match, such as "/old/:id"')
  }
  if (typeof source !== 'string') return refuse('source-not-string', 'source is not text', 'Write a path in quotes')
  if (!source.startsWith('/')) {
    return refuse('source-bad-start', `source "${source}" does not begin with a slash`, 'Write a path of this site')
  }
  return source
}

/** @throws the errors of `refuse`. */
export function checkDestination(destination: unknown, refuse: Refuse): string {
  if (destination === undefined || destination === null || destination === '') {
    return refuse('destination-missing', 'the rule has no destination', 'Add the path or URL that it leads to')
  }
  if (typeof destination !== 'string') {
    return refuse('destination-not-string', 'destination is not text', 'Write a path or an http(s) URL in quotes')
  }
  if (!/^(?:\/|https?:\/\/)/i.test(destination)) {
    return refuse(
      'destination-bad-start',
      `destination "${destination}" begins with neither a slash nor http(s)://`,
      'Write a path of this site or an absolute http(s) URL',
    )
  }
  return destination
}

/** @throws the errors of `refuse`. */
export function checkStatus({ permanent, statusCode }: RuleFields, refuse: Refuse): number {
  if (statusCode !== undefined) {
    if (typeof statusCode === 'number' && REDIRECT_STATUSES.includes(statusCode)) return statusCode
    return refuse(
      'status-code-invalid',
      `statusCode ${JSON.stringify(statusCode)} is not a redirect status`,
      `Use one of ${REDIRECT_STATUSES.join(', ')}`,
    )
  }
  if (typeof permanent !== 'boolean') {
    return refuse('permanent-not-boolean', 'permanent is not true or false', 'Write true for 308 or false for 307')
  }
  return permanent ? 308 : 307
}

/** @throws the errors of `refuse`. */
export function checkHeaders(
  headers: unknown,
  refuse: Refuse,
): readonly { readonly key: string; readonly value: string }[] {
  if (!Array.isArray(headers)) {
    return refuse('headers-not-array', 'headers is not a list', 'Write a list of { key, value }')
  }
  if (headers.length === 0) return refuse('headers-empty', 'headers is empty', 'Add a header or remove the rule')
  return headers.map((item: unknown, index) => checkHeader(item, index, refuse))
}

function checkHeader(item: unknown, index: number, refuse: Refuse): { key: string; value: string } {
  const fail = (broken: string, wayOut: string) => refuse('header-item-invalid', `headers[${index}] ${broken}`, wayOut)
  if (typeof item !== 'object' || item === null) return fail('is not an object', 'Write { key, value }')
  const { key, value } = item as RuleFields
  if (typeof key !== 'string' || !HEADER_NAME.test(key)) {
    return fail(`has ${JSON.stringify(key)} as its key`, 'Write the name of a header')
  }
  if (FRAMING_HEADERS.includes(key.toLowerCase())) {
    return fail(`sets ${key}, which belongs to the connection`, 'Leave it to the server')
  }
  if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
    return fail(`has ${JSON.stringify(value)} for the value of ${key}`, 'Write text without line breaks, in Latin-1')
  }
  return { key, value }
}
