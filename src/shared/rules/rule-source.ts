import type { Key, Token } from 'path-to-regexp'
import { parse, tokensToRegexp } from 'path-to-regexp'
import type { Capture, Captures } from './captures.ts'
import type { Refuse } from './rule-error.ts'
import type { RulePath } from './rule-path.ts'
import { NO_CAPTURES } from './captures.ts'
import { compileProgram } from './regex-program.ts'
import { runProgram } from './regex-runner.ts'
import { canonicalText, firstSegmentOf } from './rule-path.ts'

/** A rule's `source`, ready to be matched. Without case, anchored at both ends. */
export interface RuleSource {
  /** As written in the table. */
  readonly text: string
  /** The params it captures. Unnamed groups match and are not captured. */
  readonly names: ReadonlySet<string>
  /** How many groups have no name. */
  readonly unnamed: number
  /** The first segment of every path it matches, in lower case; `undefined` where that varies. */
  readonly firstSegment: string | undefined
  /** @returns `undefined` where the path does not match. */
  readonly match: (path: RulePath) => Captures | undefined
}

/** Start and end of group `n` at `2n` and `2n + 1`; -1 for a group that took no part. */
type Ranges = ArrayLike<number>

/** What the parser gives a param without a pattern of its own; its repeat ends at the next slash. */
const WHOLE_SEGMENT = '[^\\/]+?'

const LONGEST_EXPRESSION = 4_096 // characters of the compiled expression, as in Next.js

/** @throws whatever `refuse` throws, for a source that cannot be compiled. */
export function compileSource(text: string, refuse: Refuse): RuleSource {
  const tokens = parseTokens(text, refuse)
  const keys: Key[] = []
  const expression = expressionOf(tokens, keys, refuse)
  const find = plain(tokens) ? nativeFinder(expression) : (boundedFinder(expression) ?? nativeFinder(expression))
  const named = keys.flatMap((key, index) => (typeof key.name === 'string' ? [{ key, group: index + 1 }] : []))

  return {
    text,
    names: new Set(named.map(({ key }) => String(key.name))),
    unnamed: keys.length - named.length,
    firstSegment: staticFirstSegment(tokens),
    match(path) {
      const ranges = find(path.canonical)
      if (ranges === undefined) return undefined
      return named.length === 0 ? NO_CAPTURES : readCaptures(named, ranges, path)
    },
  }
}

function parseTokens(text: string, refuse: Refuse): readonly Token[] {
  try {
    return parse(text, { delimiter: '/' }).map((token) =>
      typeof token === 'string'
        ? canonicalText(token, 'escape')
        : {
            ...token,
            prefix: canonicalText(token.prefix, 'escape'),
            suffix: canonicalText(token.suffix, 'escape'),
          },
    )
  } catch (error) {
    return refuse('source-unparsable', `source does not parse: ${messageOf(error)}`, ESCAPING)
  }
}

function expressionOf(tokens: readonly Token[], keys: Key[], refuse: Refuse): RegExp {
  let expression: RegExp
  try {
    // Not strict, so that `/:path*` is the root too, whose path is all slash.
    expression = tokensToRegexp([...tokens], keys, { delimiter: '/', strict: false, sensitive: false })
  } catch (error) {
    return refuse('source-unparsable', `source does not compile: ${messageOf(error)}`, ESCAPING)
  }
  if (expression.source.length > LONGEST_EXPRESSION) {
    refuse('source-too-long', `the source's expression exceeds ${LONGEST_EXPRESSION} characters`, 'Split the rule')
  }
  const groups = (new RegExp(`${expression.source}|`).exec('')?.length ?? 0) - 1
  if (groups !== keys.length) {
    refuse('source-unparsable', 'a group of the source captures within itself', 'Begin inner groups with "?:"')
  }
  return expression
}

const ESCAPING = 'Put a backslash before ( ) { } : * + ? where they are meant literally'

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Whether the platform's engine is safe. With at most one repeat that the author wrote, a path is walked a bounded
 * number of times; two may try every way of sharing the path between them, which 8 KiB of slashes turn into minutes.
 */
function plain(tokens: readonly Token[]): boolean {
  let repeats = 0
  for (const token of tokens) {
    if (typeof token === 'string') continue
    if (token.modifier === '*' || token.modifier === '+') repeats += 1
    if (token.pattern !== WHOLE_SEGMENT) repeats += token.pattern.split(/[*+{]/).length - 1
  }
  return repeats <= 1
}

function nativeFinder(expression: RegExp): (text: string) => Ranges | undefined {
  const withIndices = new RegExp(expression.source, 'di')
  return (text) => {
    const indices = withIndices.exec(text)?.indices
    return indices && Array.from(indices).flatMap((range) => range ?? [-1, -1])
  }
}

function boundedFinder(expression: RegExp): ((text: string) => Ranges | undefined) | undefined {
  const program = compileProgram(expression.source)
  return program && ((text) => runProgram(program, text))
}

function readCaptures(
  named: readonly { readonly key: Key; readonly group: number }[],
  ranges: Ranges,
  path: RulePath,
): Captures {
  const captures = new Map<string, Capture>()
  for (const { key, group } of named) {
    const start = ranges[2 * group] ?? -1
    const end = ranges[2 * group + 1] ?? -1
    if (start === -1) continue
    const repeats = key.modifier === '*' || key.modifier === '+'
    const value = repeats ? splitRepeated(path, start, end, key.prefix + key.suffix) : path.written(start, end)
    captures.set(String(key.name), { value, encoded: true })
  }
  return captures
}

function splitRepeated(path: RulePath, start: number, end: number, separator: string): readonly string[] {
  const values: string[] = []
  for (const part of path.canonical.slice(start, end).split(separator)) {
    values.push(path.written(start, start + part.length))
    start += part.length + separator.length
  }
  return values
}

function staticFirstSegment(tokens: readonly Token[]): string | undefined {
  const [first, second] = tokens
  if (typeof first !== 'string') return undefined
  const ended = first.includes('/', 1) || second === undefined || (typeof second === 'object' && startsSegment(second))
  return ended ? firstSegmentOf(first) : undefined
}

function startsSegment(token: Key): boolean {
  return token.prefix.startsWith('/')
}
