/**
 * Regular expressions of rules, matched in time proportional to the text. Texts are from visitors, so the platform's
 * backtracking engine never runs an expression.
 */
import type { AST } from '@eslint-community/regexpp'
import type { LoadEngine } from './expression-engine.ts'
import type { ReadingOptions } from './linear-syntax.ts'
import { ExpressionError, ancestryOf, fixedCount, writeLinear } from './linear-syntax.ts'

/** Start and end of group `n` at `2n` and `2n + 1`; -1 for a group that did not match. */
export type Ranges = ArrayLike<number>

/** A compiled expression. */
interface Expression {
  /** The name of each capturing group, from group 1 on. */
  readonly names: readonly (string | undefined)[]
  /** Characters of the longest text that it may be asked about. */
  readonly longest: number
  /** @returns the groups' ranges if the whole text matches. */
  readonly match: (text: string) => Ranges | undefined
}

/** The bound of a text's length times the steps of the expression: 6 ms, and 36 ms for the worst expressions. */
const MOST_STEPS = 600_000

/** The only look-ahead of an expression, and the elements before it. */
interface LookAhead {
  readonly node: AST.LookaheadAssertion
  readonly before: readonly AST.Element[]
}

/**
 * Compiles an expression of JavaScript without flags. A character outside the Basic Multilingual Plane counts as one,
 * as with the flag `u`.
 *
 * One negative look-ahead at the start of a group is supported, as two matches: the expression without it must match,
 * and the elements before it followed by the refused text must not. This is equivalent if the elements before it can
 * end at only one place.
 * @param options captures count only outside of repeats and look-aheads.
 * @throws {ExpressionError} for an expression without a bounded match.
 */
export function compileExpression(source: string, options: ReadingOptions, loadEngine: LoadEngine): Expression {
  const { RE2JS, RegExpParser } = loadEngine()
  const pattern = parsePattern(source, options, new RegExpParser({ ecmaVersion: 2025 }))
  const lookAhead = lookAheadOf(pattern, options)
  const { text, names, size } = writeLinear([pattern], options, lookAhead?.node)
  const wanted = RE2JS.compile(text)
  const ahead = lookAhead && writeLinear([...lookAhead.before, lookAhead.node.alternatives], options)
  const refused = ahead && RE2JS.compile(ahead.text)

  return {
    names,
    longest: Math.floor(MOST_STEPS / Math.max(1, size + (ahead?.size ?? 0))),
    match(text) {
      const matcher = wanted.matcher(text)
      if (!matcher.matches() || refused?.matcher(text).lookingAt() === true) return undefined
      const ranges = new Int32Array(2 * (names.length + 1))
      for (let group = 0; group <= names.length; group += 1) {
        ranges[2 * group] = matcher.start(group)
        ranges[2 * group + 1] = matcher.end(group)
      }
      return ranges
    },
  }
}

const SURROGATE_PAIR = /[\ud800-\udbff][\udc00-\udfff]/

function parsePattern(
  source: string,
  { ignoreCase }: ReadingOptions,
  parser: { parsePattern(source: string, start: number, end: number, flags: { unicode: boolean }): AST.Pattern },
): AST.Pattern {
  try {
    // Without the flag such a character would be two, but texts count it as one.
    const unicode = !ignoreCase && SURROGATE_PAIR.test(source)
    return parser.parsePattern(source, 0, source.length, { unicode })
  } catch (error) {
    throw new ExpressionError(error instanceof Error ? error.message : String(error), 'Correct the expression')
  }
}

/** @returns the look-ahead that can become a second match; others stay, and are refused when they are written. */
function lookAheadOf(pattern: AST.Pattern, options: ReadingOptions): LookAhead | undefined {
  const node = firstLookAhead(pattern)
  if (node === undefined || !node.negate) return undefined
  const isAtStart = (before: readonly AST.Element[]): boolean =>
    before.every((element) => element.type === 'Assertion' && element.kind === 'start')
  let before: readonly AST.Element[] = []
  for (const [child, parent] of ancestryOf(node)) {
    if (parent.type === 'Quantifier' || ('alternatives' in parent && parent.alternatives.length > 1)) return undefined
    if (parent.type === 'Group' && parent.modifiers !== null) return undefined
    if (parent.type !== 'Alternative') continue
    const own = parent.elements.slice(
      0,
      parent.elements.findIndex((element) => element === child),
    )
    if (child === node && !isAtStart(own)) return undefined
    before = [...own, ...before]
  }
  return endsAtOnePlace(before, options) ? { node, before } : undefined
}

function firstLookAhead(node: AST.Node): AST.LookaheadAssertion | undefined {
  if (node.type === 'Assertion' && node.kind === 'lookahead') return node
  const children = node.type === 'Quantifier' ? [node.element] : node.type === 'Alternative' ? node.elements : []
  for (const child of 'alternatives' in node ? node.alternatives : children) {
    const found = firstLookAhead(child)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether all matches of the elements before a look-ahead end at the same place of a text. */
function endsAtOnePlace(before: readonly AST.Element[], options: ReadingOptions): boolean {
  const isFixed = (of: 'slashes' | 'characters'): boolean =>
    before.every((element) => fixedCount(element, of, options) !== undefined)
  const last = before.at(-1)
  return isFixed('characters') || (isFixed('slashes') && last?.type === 'Character' && last.raw.endsWith('/'))
}
