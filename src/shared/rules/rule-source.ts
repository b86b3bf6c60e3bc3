import type { Key, Token } from 'path-to-regexp'
import { parse, tokensToRegexp } from 'path-to-regexp'
import type { Capture, Captures } from './captures.ts'
import type { LoadEngine } from './expression-engine.ts'
import type { Ranges } from './expression.ts'
import type { Refuse } from './rule-error.ts'
import type { RulePath } from './rule-path.ts'
import { NO_CAPTURES } from './captures.ts'
import { compileExpression } from './expression.ts'
import { LongTextError } from './long-text-error.ts'
import { ExpressionError } from './linear-syntax.ts'
import { compilePlainSource } from './plain-source.ts'
import { withoutOwnLookAheads } from './segment-without.ts'
import { canonicalText, firstSegmentOf } from './rule-path.ts'

/** A rule's compiled `source`. Ignores case, anchored at both ends. */
export interface RuleSource {
  /** As written in the table. */
  readonly text: string
  /** The names of its captures. Unnamed groups match but are not captured. */
  readonly names: ReadonlySet<string>
  /** Number of unnamed groups. */
  readonly unnamed: number
  /** The common first segment of all paths that match, in lower case; `undefined` if it varies. */
  readonly firstSegment: string | undefined
  /** Characters of the longest path that it may be asked about. */
  readonly longest: number
  /**
   * @returns `undefined` if the path does not match.
   * @throws {LongTextError} for a path that is too long for the source's expression.
   */
  readonly match: (path: RulePath) => Captures | undefined
}

const LONGEST_EXPRESSION = 4_096 // characters of the compiled expression, as in Next.js

/** @throws the errors of `refuse`, for a source that cannot be compiled. */
export function compileSource(text: string, refuse: Refuse, loadEngine: LoadEngine): RuleSource {
  const parsed = parseTokens(text, refuse)
  const tokens = parsed.map((token) =>
    typeof token === 'string' ? canonicalText(token, 'escape') : canonicalKey(token),
  )
  const keys: Key[] = []
  if (expressionOf(tokens, keys, refuse).length > LONGEST_EXPRESSION) {
    refuse('source-too-long', `the source's expression exceeds ${LONGEST_EXPRESSION} characters`, 'Split the rule')
  }
  const plain = compilePlainSource(tokens)
  const { find, longest } =
    plain === undefined ? compileFinder(tokens, parsed, refuse, loadEngine) : { find: plain, longest: Infinity }
  const named = keys.flatMap((key, index) => (typeof key.name === 'string' ? [{ key, group: index + 1 }] : []))

  return {
    text,
    names: new Set(named.map(({ key }) => String(key.name))),
    unnamed: keys.length - named.length,
    firstSegment: staticFirstSegment(tokens),
    longest,
    match(path) {
      const ranges = find(path.canonical)
      if (ranges === undefined) return undefined
      return named.length === 0 ? NO_CAPTURES : readCaptures(named, ranges, path)
    },
  }
}

function parseTokens(text: string, refuse: Refuse): readonly Token[] {
  try {
    return parse(text, { delimiter: '/' })
  } catch (error) {
    return refuse('source-unparsable', `source does not parse: ${messageOf(error)}`, ESCAPING)
  }
}

function canonicalKey(key: Key): Key {
  return { ...key, prefix: canonicalText(key.prefix, 'escape'), suffix: canonicalText(key.suffix, 'escape') }
}

function expressionOf(tokens: readonly Token[], keys: Key[], refuse: Refuse): string {
  try {
    // Not strict, so that `/:path*` also matches the root, whose path is only a slash.
    return tokensToRegexp([...tokens], keys, { delimiter: '/', strict: false, sensitive: false }).source
  } catch (error) {
    return refuse('source-unparsable', `source does not compile: ${messageOf(error)}`, ESCAPING)
  }
}

function compileFinder(
  tokens: readonly Token[],
  parsed: readonly Token[],
  refuse: Refuse,
  loadEngine: LoadEngine,
): { readonly find: (path: string) => Ranges | undefined; readonly longest: number } {
  try {
    const keys: Key[] = []
    const expression = expressionOf(withoutOwnLookAheads(tokens, parsed), keys, refuse)
    const { names, longest, match } = compileExpression(expression, { ignoreCase: true, captures: 'all' }, loadEngine)
    if (names.length === keys.length) {
      return {
        longest,
        find(path) {
          if (path.length > longest) throw new LongTextError('path', path.length, longest)
          return match(path)
        },
      }
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return refuse('source-unparsable', `source cannot be matched: ${error.message}`, error.wayOut)
  }
  return refuse('source-unparsable', 'a group of the source captures within itself', 'Begin inner groups with "?:"')
}

const ESCAPING = 'Put a backslash before ( ) { } : * + ? where they are literal'

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
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
