/**
 * The `has` and `missing` of a rule. A key without text counts as present, and a value's expression is grouped before
 * it is anchored, so that `1|2` means `1` or `2`.
 */
import type { Capture, Captures } from './captures.ts'
import type { LoadEngine } from './expression-engine.ts'
import type { Refuse } from './rule-error.ts'
import type { RuleSubject } from './rule-request.ts'
import { NO_CAPTURES } from './captures.ts'
import { compileExpression } from './expression.ts'
import { LongTextError, type AskedPart } from './long-text-error.ts'
import { ExpressionError } from './linear-syntax.ts'

/** Compiled conditions. */
export interface Conditions {
  /** Possible captures of `has`. */
  readonly names: ReadonlySet<string>
  /** Characters of the longest text that all of its values may be asked about. */
  readonly longest: number
  /**
   * @returns the captures of `has`; `undefined` if the rule does not apply.
   * @throws {LongTextError} for a text that is too long for the expression of a value.
   */
  readonly match: (subject: RuleSubject) => Captures | undefined
}

interface Condition {
  readonly names: readonly string[]
  readonly longest: number
  /** @returns whether it holds; adds its captures. */
  readonly holds: (subject: RuleSubject, captured: Map<string, Capture>) => boolean
}

type Found = string | readonly string[] | undefined

/** RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/i

const TYPES: readonly unknown[] = ['header', 'cookie', 'query', 'host']

/** @throws the errors of `refuse`, for a malformed condition. */
export function compileConditions(has: unknown, missing: unknown, refuse: Refuse, loadEngine: LoadEngine): Conditions {
  const required = compileList(has, 'has', refuse, loadEngine)
  const refused = compileList(missing, 'missing', refuse, loadEngine)
  const names = new Set(required.flatMap((condition) => condition.names))
  if (required.length === 0 && refused.length === 0) return { names, longest: Infinity, match: () => NO_CAPTURES }
  return {
    names,
    longest: Math.min(...[...required, ...refused].map((condition) => condition.longest)),
    match(subject) {
      const captured = new Map<string, Capture>()
      if (!required.every((condition) => condition.holds(subject, captured))) return undefined
      return refused.some((condition) => condition.holds(subject, new Map())) ? undefined : captured
    },
  }
}

function compileList(
  list: unknown,
  field: 'has' | 'missing',
  refuse: Refuse,
  loadEngine: LoadEngine,
): readonly Condition[] {
  if (list === undefined) return []
  const kind = `${field}-invalid` as const
  if (!Array.isArray(list)) return refuse(kind, `${field} is not a list`, 'Write a list of conditions or leave it out')
  return list.map((item: unknown, index) =>
    compileCondition(item, (broken, wayOut) => refuse(kind, `${field}[${index}] ${broken}`, wayOut), loadEngine),
  )
}

function compileCondition(
  item: unknown,
  refuse: (broken: string, wayOut: string) => never,
  loadEngine: LoadEngine,
): Condition {
  if (typeof item !== 'object' || item === null) return refuse('is not an object', 'Write { type, key, value }')
  const { type, key, value } = item as Readonly<Record<string, unknown>>
  if (!isType(type)) {
    return refuse(`has the type ${JSON.stringify(type)}`, `Use one of ${TYPES.join(', ')}`)
  }
  if (value !== undefined && typeof value !== 'string') {
    return refuse('has a value that is not text', 'Write the value as a regular expression in quotes')
  }
  const expected = value === undefined || value === '' ? undefined : compileValue(value, refuse, loadEngine)
  if (type === 'host') {
    if (expected === undefined) return refuse('names no host', 'Give the host as value')
    const { names, longest } = expected
    return { names: ['host', ...names], longest, holds: compare('host', readHost, expected) }
  }
  if (typeof key !== 'string' || key === '') return refuse(`has no key`, `Name the ${type} as key`)
  if (type === 'header' && !HEADER_NAME.test(key))
    return refuse('has a key that is not the name of a header', 'Write one')
  const name = type === 'header' ? key.toLowerCase() : key
  const read = type === 'header' ? readHeader(name) : type === 'cookie' ? readCookie(name) : readQuery(name)
  if (expected !== undefined)
    return { names: expected.names, longest: expected.longest, holds: compare(type, read, expected) }

  const captureName = captureNameOf(name)
  return {
    names: captureName === '' ? [] : [captureName],
    longest: Infinity,
    holds(subject, captured) {
      const found = read(subject)
      if (found === undefined) return false
      if (captureName !== '') captured.set(captureName, { value: found, encoded: false })
      return true
    },
  }
}

/** Accepted values of a condition. */
interface ExpectedValue {
  readonly names: readonly string[]
  /** Characters of the longest text that it may be asked about. */
  readonly longest: number
  /** @returns the captures of the named groups, if the whole text matches. */
  readonly match: (text: string) => ReadonlyMap<string, string> | undefined
}

const NO_GROUPS: ReadonlyMap<string, string> = new Map()

/** Text without special characters of expressions. */
const LITERAL = /^[^\\^$.*+?()[\]{}|]*$/

function compileValue(
  value: string,
  refuse: (broken: string, wayOut: string) => never,
  loadEngine: LoadEngine,
): ExpectedValue {
  if (LITERAL.test(value))
    return { names: [], longest: Infinity, match: (text) => (text === value ? NO_GROUPS : undefined) }
  try {
    const { names, longest, match } = compileExpression(value, { ignoreCase: false, captures: 'named' }, loadEngine)
    return {
      names: [...new Set(names.filter((name) => name !== undefined))],
      longest,
      match(text) {
        const ranges = match(text)
        if (ranges === undefined) return undefined
        const captured = new Map<string, string>()
        for (const [at, name] of names.entries()) {
          const start = ranges[2 * at + 2] ?? -1
          if (name !== undefined && start !== -1) captured.set(name, text.slice(start, ranges[2 * at + 3]))
        }
        return captured
      },
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return refuse(`has a value that is not a regular expression for rules: ${error.message}`, error.wayOut)
  }
}

/** The whole value must match; of several values the last one is compared. */
function compare(type: AskedPart, read: (subject: RuleSubject) => Found, expected: ExpectedValue): Condition['holds'] {
  return (subject, captured) => {
    const found = read(subject)
    const text = typeof found === 'object' ? found.at(-1) : found
    if (text !== undefined && text.length > expected.longest) {
      throw new LongTextError(type, text.length, expected.longest)
    }
    const groups = text === undefined ? undefined : expected.match(text)
    if (text === undefined || groups === undefined) return false
    for (const [name, value] of groups) captured.set(name, { value, encoded: false })
    if (type === 'host' && expected.names.length === 0) captured.set('host', { value: text, encoded: false })
    return true
  }
}

function isType(type: unknown): type is Exclude<AskedPart, 'path'> {
  return TYPES.includes(type)
}

function readHeader(name: string): (subject: RuleSubject) => Found {
  return (subject) => subject.request.header(name)
}

function readCookie(name: string): (subject: RuleSubject) => Found {
  return (subject) => {
    const cookies = subject.request.cookies()
    return Object.hasOwn(cookies, name) ? cookies[name] : undefined
  }
}

function readQuery(key: string): (subject: RuleSubject) => Found {
  return (subject) => {
    const values = subject.query().flatMap((pair) => (pair.key === key ? [pair.value] : []))
    return values.length > 1 ? values : values[0]
  }
}

/** Without its port, in lower case. */
function readHost({ request }: RuleSubject): Found {
  return /^(?:\[[^\]]*\]|[^:]*)/.exec(request.host)?.[0].toLowerCase()
}

/** The name under which a key is captured: its letters. */
function captureNameOf(key: string): string {
  return key.replace(/[^a-z]/gi, '')
}
