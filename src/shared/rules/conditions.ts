/**
 * The `has` and `missing` of a rule. A key that is there without text counts as there, and a value's expression is
 * grouped before it is anchored, so that `1|2` is `1` or `2` and not `12`.
 */
import type { Capture, Captures } from './captures.ts'
import type { Refuse } from './rule-error.ts'
import type { RuleSubject } from './rule-request.ts'
import { NO_CAPTURES } from './captures.ts'

/** Conditions ready to be tried. */
export interface Conditions {
  /** What `has` may capture. */
  readonly names: ReadonlySet<string>
  /** @returns what `has` captured; `undefined` where the rule does not apply. */
  readonly match: (subject: RuleSubject) => Captures | undefined
}

interface Condition {
  readonly names: readonly string[]
  /** @returns whether it holds; adds what it captures. */
  readonly holds: (subject: RuleSubject, captured: Map<string, Capture>) => boolean
}

type Found = string | readonly string[] | undefined

const TYPES = ['header', 'cookie', 'query', 'host']

/** @throws whatever `refuse` throws, for a condition of the wrong shape. */
export function compileConditions(has: unknown, missing: unknown, refuse: Refuse): Conditions {
  const required = compileList(has, 'has', refuse)
  const refused = compileList(missing, 'missing', refuse)
  const names = new Set(required.flatMap((condition) => condition.names))
  if (required.length === 0 && refused.length === 0) return { names, match: () => NO_CAPTURES }
  return {
    names,
    match(subject) {
      const captured = new Map<string, Capture>()
      if (!required.every((condition) => condition.holds(subject, captured))) return undefined
      return refused.some((condition) => condition.holds(subject, new Map())) ? undefined : captured
    },
  }
}

function compileList(list: unknown, field: 'has' | 'missing', refuse: Refuse): readonly Condition[] {
  if (list === undefined) return []
  const kind = `${field}-invalid` as const
  if (!Array.isArray(list)) return refuse(kind, `${field} is not a list`, 'Write a list of conditions or leave it out')
  return list.map((item: unknown, index) =>
    compileCondition(item, (broken, wayOut) => refuse(kind, `${field}[${index}] ${broken}`, wayOut)),
  )
}

function compileCondition(item: unknown, refuse: (broken: string, wayOut: string) => never): Condition {
  if (typeof item !== 'object' || item === null) return refuse('is not an object', 'Write { type, key, value }')
  const { type, key, value } = item as Readonly<Record<string, unknown>>
  if (typeof type !== 'string' || !TYPES.includes(type)) {
    return refuse(`has the type ${JSON.stringify(type)}`, `Use one of ${TYPES.join(', ')}`)
  }
  if (value !== undefined && typeof value !== 'string') {
    return refuse('has a value that is not text', 'Write the value as a regular expression in quotes')
  }
  const expression = value === undefined || value === '' ? undefined : compileValue(value, refuse)
  if (type === 'host') {
    if (expression === undefined) return refuse('names no host', 'Give the host as value')
    return { names: ['host', ...groupNames(expression)], holds: compare(readHost, expression, 'host') }
  }
  if (typeof key !== 'string' || key === '') return refuse(`has no key`, `Name the ${type} as key`)
  const name = type === 'header' ? key.toLowerCase() : key
  const read = type === 'header' ? readHeader(name) : type === 'cookie' ? readCookie(name) : readQuery(name)
  if (expression !== undefined) return { names: groupNames(expression), holds: compare(read, expression) }

  const captureName = captureNameOf(name)
  return {
    names: captureName === '' ? [] : [captureName],
    holds(subject, captured) {
      const found = read(subject)
      if (found === undefined) return false
      if (captureName !== '') captured.set(captureName, { value: found, encoded: false })
      return true
    },
  }
}

function compileValue(value: string, refuse: (broken: string, wayOut: string) => never): RegExp {
  try {
    return new RegExp(`^(?:${value})$`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refuse(`has a value that is no regular expression: ${reason}`, 'Correct the expression')
  }
}

/** The value must match as a whole; of several values the last one is compared. */
function compare(read: (subject: RuleSubject) => Found, expression: RegExp, wholeName?: string): Condition['holds'] {
  return (subject, captured) => {
    const found = read(subject)
    const text = typeof found === 'object' ? found.at(-1) : found
    const matched = text === undefined ? null : expression.exec(text)
    if (matched === null) return false
    if (matched.groups !== undefined) {
      for (const [name, value] of Object.entries<string | undefined>(matched.groups)) {
        if (value !== undefined) captured.set(name, { value, encoded: false })
      }
    } else if (wholeName !== undefined) captured.set(wholeName, { value: matched[0], encoded: false })
    return true
  }
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

function groupNames(expression: RegExp): readonly string[] {
  return Object.keys(new RegExp(`${expression.source}|`).exec('')?.groups ?? {})
}
