/**
 * Converts an expression of JavaScript to the syntax of RE2, which differs in `\s`, `.`, case and the limits of
 * repeats. Every character is written as a set of code points, which avoids those differences.
 */
import type { AST } from '@eslint-community/regexpp'
import type { CodePointSet } from './code-point-set.ts'
import { codePointSet, complementOf, includesCodePoint, withBothCases } from './code-point-set.ts'

/** An expression that cannot be matched in bounded time, or that would have another meaning here. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
  /** What to write instead, without a full stop. */
  readonly wayOut: string

  constructor(broken: string, wayOut: string) {
    super(broken)
    this.wayOut = wayOut
  }
}

/** How an expression is read. */
export interface ReadingOptions {
  /** Whether to ignore case. Texts must be ASCII then. */
  readonly ignoreCase: boolean
  /** Which groups capture. */
  readonly captures: 'all' | 'named'
}

/** Result of writing an expression. */
interface Written {
  readonly text: string
  /** The name of each capturing group, in order; a repeat of more than 1,000 contains its groups several times. */
  readonly names: readonly (string | undefined)[]
  /** Number of steps with all repeats written out. The time for a text is at most proportional to it, times its length. */
  readonly size: number
}

interface Flags {
  readonly ignoreCase: boolean
  readonly dotAll: boolean
}

/** RE2's limit for a repeat, and for the product of nested repeats. */
const MOST_REPEATS = 1_000

/** Beyond this, an expression could be asked about short texts only; counted repeats are written out. */
const LONGEST_PROGRAM = 5_000 // instructions

const SPACES: CodePointSet = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const DIGITS: CodePointSet = [[0x30, 0x39]]
const WORD: CodePointSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
const LINE_ENDS: CodePointSet = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]

const LAST_ASCII = 0x7f
const SLASH = 0x2f

/** A part of an expression; a list of alternatives is one of them. */
type ExpressionPart = AST.Node | readonly AST.Alternative[]

/**
 * Writes parts of an expression, one after the other.
 * @param skipped a look-ahead to leave out.
 * @throws {ExpressionError} for a part without a bounded match.
 */
export function writeLinear(parts: readonly ExpressionPart[], options: ReadingOptions, skipped?: AST.Node): Written {
  const names: (string | undefined)[] = []
  const size = parts.flat().reduce((sum, node) => sum + sizeOf(node), 0)
  if (size > LONGEST_PROGRAM) {
    throw new ExpressionError(
      `the expression has ${size} steps with its repeats written out, more than ${LONGEST_PROGRAM}`,
      'Use + or * in place of large counts',
    )
  }
  const flags: Flags = { ignoreCase: options.ignoreCase, dotAll: false }
  const text = parts.map((part) => ('type' in part ? write(part, flags) : `(?:${writeOptions(part, flags)})`)).join('')
  return { text, names, size }

  function write(node: AST.Node, flags: Flags): string {
    if (node === skipped) return ''
    switch (node.type) {
      case 'Pattern':
        return `(?:${writeOptions(node.alternatives, flags)})`
      case 'Alternative':
        return node.elements.map((element) => write(element, flags)).join('')
      case 'Group':
        return `(?:${writeOptions(node.alternatives, flagsIn(node, flags))})`
      case 'CapturingGroup':
        return writeCapture(node, flags)
      case 'Quantifier':
        return writeRepeat(node, flags)
      case 'Assertion':
        return writeAssertion(node)
      case 'Character':
      case 'CharacterClass':
      case 'CharacterSet':
        return writeSet(setOf(node, flags, options))
      default:
        throw refusalOf(node)
    }
  }

  function writeOptions(alternatives: readonly AST.Alternative[], flags: Flags): string {
    return alternatives.map((alternative) => write(alternative, flags)).join('|')
  }

  function writeCapture(node: AST.CapturingGroup, flags: Flags): string {
    if (options.captures === 'named' && node.name === null) return `(?:${writeOptions(node.alternatives, flags)})`
    refuseForgetful(node)
    names.push(node.name ?? undefined)
    return `(${writeOptions(node.alternatives, flags)})`
  }

  function writeRepeat(node: AST.Quantifier, flags: Flags): string {
    const groupsBefore = names.length
    const body = `(?:${write(node.element, flags)})`
    const groups = names.splice(groupsBefore)
    const pieces = countsOf(node).map((count) => body + count)
    // A group that is written twice captures twice.
    for (const _ of pieces) names.push(...groups)
    return pieces.join('')
  }
}

/** The counts of a repeat, split to RE2's limit; the last one of `{2,}` is a star. */
function countsOf({ element, min, max, greedy }: AST.Quantifier): readonly string[] {
  const lazy = greedy ? '' : '?'
  if (min < 2 && max === Infinity) return [(min === 0 ? '*' : '+') + lazy]
  if (min === 0 && max === 1) return [`?${lazy}`]
  const most = Math.floor(MOST_REPEATS / repeatsIn(element))
  const counts: string[] = []
  for (let left = min; left > 0; left -= most) counts.push(`{${Math.min(left, most)}}`)
  if (max === Infinity) counts.push(`*${lazy}`)
  else for (let left = max - min; left > 0; left -= most) counts.push(`{0,${Math.min(left, most)}}${lazy}`)
  return counts
}

function flagsIn({ modifiers }: AST.Group, flags: Flags): Flags {
  if (modifiers === null) return flags
  const { add, remove } = modifiers
  if (add.multiline || remove?.multiline === true) {
    throw new ExpressionError('the expression has the flag m', 'Write the ends of lines as [\\r\\n]')
  }
  return {
    ignoreCase: add.ignoreCase || (flags.ignoreCase && remove?.ignoreCase !== true),
    dotAll: add.dotAll || (flags.dotAll && remove?.dotAll !== true),
  }
}

function writeAssertion(node: AST.Assertion): string {
  if (node.kind === 'start') return '\\A'
  if (node.kind === 'end') return '\\z'
  if (node.kind === 'word') return node.negate ? '\\B' : '\\b'
  throw refusalOf(node)
}

function refusalOf(node: AST.Node): ExpressionError {
  const written = node.raw
  if (node.type === 'Backreference') {
    return new ExpressionError(
      `${written} refers back to a group`,
      'Name the texts that may repeat, or compare in a loader',
    )
  }
  if (node.type === 'Assertion' && node.kind === 'lookbehind') {
    return new ExpressionError(
      `${written} looks behind`,
      'Match the text before it, or use a separate rule, or "missing" for text that must be absent',
    )
  }
  if (node.type === 'Assertion') {
    return new ExpressionError(
      `${written} looks ahead other than by one (?!…) at the start of a group, at a place that the text before it determines`,
      'Join several as (?!a|b), write two rules, or use "missing"',
    )
  }
  return new ExpressionError(`${written} is not supported`, 'List the characters in brackets')
}

/** In JavaScript each round of a repeat resets the captures of the previous one; RE2 keeps them. */
function refuseForgetful(group: AST.CapturingGroup): void {
  let mayBeLeftOut = false
  for (const [, parent] of ancestryOf(group)) {
    if ('alternatives' in parent && parent.alternatives.length > 1) mayBeLeftOut = true
    if (parent.type !== 'Quantifier') continue
    if (mayBeLeftOut && parent.max > 1) {
      throw new ExpressionError(
        `${group.raw} captures in some rounds of a repeat and not in others`,
        'Put the repeat into the group, or begin the group with "?:"',
      )
    }
    if (parent.min === 0) mayBeLeftOut = true
  }
}

/** Characters that match a character, class or escape. */
function setOf(
  node: AST.Character | AST.CharacterClass | AST.CharacterSet | AST.CharacterClassRange,
  { ignoreCase, dotAll }: Flags,
  options: ReadingOptions,
): CodePointSet {
  const listed = (first: number, last: number): CodePointSet => {
    const set: CodePointSet = [[first, last]]
    if (!ignoreCase) return set
    if (last > LAST_ASCII && !options.ignoreCase) {
      throw new ExpressionError(
        `${node.raw} is in an expression that ignores case, which works for ASCII only`,
        'List both cases',
      )
    }
    return withBothCases(set)
  }
  switch (node.type) {
    case 'Character':
      return listed(node.value, node.value)
    case 'CharacterClassRange':
      return listed(node.min.value, node.max.value)
    case 'CharacterClass': {
      const parts = node.elements.flatMap((element) => {
        if (element.type === 'Character' || element.type === 'CharacterClassRange' || element.type === 'CharacterSet') {
          return setOf(element, { ignoreCase, dotAll }, options)
        }
        throw refusalOf(element)
      })
      const set = codePointSet(parts)
      return node.negate ? complementOf(set) : set
    }
    case 'CharacterSet': {
      if (node.kind === 'any') return complementOf(dotAll ? [] : LINE_ENDS)
      if (node.kind === 'property') throw refusalOf(node)
      const set = { digit: DIGITS, space: SPACES, word: WORD }[node.kind]
      return node.negate ? complementOf(set) : set
    }
  }
}

function writeSet(set: CodePointSet): string {
  const [only] = set
  if (only === undefined) return `[^${writeCode(0)}-${writeCode(0x10_ff_ff)}]`
  if (set.length === 1 && only[0] === only[1]) return writeCode(only[0])
  return `[${set.map(([first, last]) => `${writeCode(first)}-${writeCode(last)}`).join('')}]`
}

function writeCode(code: number): string {
  const text = String.fromCharCode(code)
  return code <= LAST_ASCII && /\w/.test(text) ? text : `\\x{${code.toString(16)}}`
}

/** How many instructions a part becomes, roughly. */
function sizeOf(node: AST.Node): number {
  if (node.type === 'Quantifier') {
    const times = node.max === Infinity ? node.min + 1 : Math.max(1, node.max)
    return times * (sizeOf(node.element) + Number(node.min !== node.max))
  }
  const inside = childrenOf(node).reduce((sum, child) => sum + sizeOf(child), 0)
  if (node.type === 'Alternative') return inside
  return 'alternatives' in node ? inside + node.alternatives.length - 1 + 2 * Number(node.type === 'CapturingGroup') : 1
}

/** The largest product of nested counted repeats that is written as one. */
function repeatsIn(node: AST.Node): number {
  const inside = Math.max(1, ...childrenOf(node).map(repeatsIn))
  if (node.type !== 'Quantifier') return inside
  const count = node.max === Infinity ? node.min : node.max
  return count <= 1 ? inside : Math.min(count, Math.floor(MOST_REPEATS / inside)) * inside
}

function childrenOf(node: AST.Node): readonly AST.Node[] {
  if (node.type === 'Quantifier') return [node.element]
  if (node.type === 'Alternative') return node.elements
  if ('alternatives' in node) return node.alternatives
  return []
}

/** The number of slashes, or of characters, in every text that a part matches; `undefined` if it varies. */
export function fixedCount(node: AST.Node, of: 'slashes' | 'characters', options: ReadingOptions): number | undefined {
  switch (node.type) {
    case 'Character':
    case 'CharacterClass':
    case 'CharacterSet': {
      if (of === 'characters') return 1
      const set = setOf(node, { ignoreCase: options.ignoreCase, dotAll: true }, options)
      if (!includesCodePoint(set, SLASH)) return 0
      return set.length === 1 && set[0]?.[0] === set[0]?.[1] ? 1 : undefined
    }
    case 'Quantifier': {
      const inside = fixedCount(node.element, of, options)
      if (inside === 0) return 0
      return inside === undefined || node.min !== node.max ? undefined : inside * node.min
    }
    case 'Alternative':
      return node.elements.reduce<number | undefined>((sum, element) => {
        const count = fixedCount(element, of, options)
        return sum === undefined || count === undefined ? undefined : sum + count
      }, 0)
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup': {
      const counts = new Set(node.alternatives.map((alternative) => fixedCount(alternative, of, options)))
      return counts.size === 1 ? [...counts][0] : undefined
    }
    default:
      return 0
  }
}

/** Each node with its parent, from the inside out. */
export function ancestryOf(node: AST.Node): readonly (readonly [child: AST.Node, parent: AST.Node])[] {
  const { parent }: { readonly parent: AST.Node | null } = node
  return parent === null ? [] : [[node, parent], ...ancestryOf(parent)]
}
