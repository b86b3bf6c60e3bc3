/**
 * The expression of a param after a text in the same segment, such as `:b` in `/:a-to-:b`: path-to-regexp uses a
 * look-ahead at each character, so that the param does not contain the text. This one has none.
 */
import type { Token } from 'path-to-regexp'
import { ExpressionError } from './linear-syntax.ts'

/**
 * Replaces the parser's own look-aheads. Expressions of the author are unchanged.
 * @param parsed the parser's tokens; its look-aheads contain its spelling of the text.
 * @throws {ExpressionError} if a look-ahead could also match text after the param.
 */
export function withoutOwnLookAheads(tokens: readonly Token[], parsed: readonly Token[]): readonly Token[] {
  return tokens.map((token, at) => {
    const spelled = textBefore(parsed, at)
    if (typeof token === 'string' || spelled === '' || token.pattern !== `(?:(?!${escapeText(spelled)})[^\\/])+?`) {
      return token
    }
    const text = textBefore(tokens, at).toLowerCase()
    if (textsBehind(tokens, at).some((behind) => couldGoOn(text, behind.toLowerCase()))) {
      throw new ExpressionError(
        `the texts "${text}" around :${token.name} can overlap`,
        'Give the param its own expression, such as ":b([^/-]+)"',
      )
    }
    return { ...token, pattern: segmentWithout(text) }
  })
}

function textBefore(tokens: readonly Token[], at: number): string {
  const [previous, token] = [tokens[at - 1], tokens[at]]
  const prefix = typeof token === 'object' ? token.prefix : ''
  return prefix || (typeof previous === 'string' ? previous : '')
}

function escapeText(text: string): string {
  return text.replace(/[.+*?=^!:${}()[\]|/\\]/g, '\\$&')
}

/** The texts that may directly follow a param: if it repeats, and if the next tokens are optional. */
function textsBehind(tokens: readonly Token[], at: number): readonly string[] {
  const texts: string[] = []
  const token = tokens[at]
  const suffix = typeof token === 'object' ? token.suffix : ''
  if (typeof token === 'object' && /[*+]/.test(token.modifier)) texts.push(suffix + token.prefix)
  for (const next of tokens.slice(at + 1)) {
    if (typeof next === 'string') return [...texts, suffix + next]
    texts.push(suffix + next.prefix)
    if (!/[*?]/.test(next.modifier)) return texts
  }
  return [...texts, `${suffix}/`]
}

/** Whether the text may begin inside the param and end in the text after it. */
function couldGoOn(text: string, behind: string): boolean {
  const ends = Array.from({ length: text.length - 1 }, (_, at) => text.slice(at + 1))
  return ends.some((end) => behind.startsWith(end) || end.startsWith(behind))
}

/**
 * An expression for one or more characters of a segment that do not contain a text. The states of a search for the text
 * (how much of it has just matched) are eliminated one by one, the deepest first, until the first one is left.
 * @param text in lower case.
 */
export function segmentWithout(text: string): string {
  const characters = [...new Set(text)]
  /** By state: the transitions to itself and to each earlier one, and the endings after which the segment may end. */
  const states = Array.from({ length: text.length }, (_, state) => {
    const targets = new Map(characters.map((each) => [each, longestStart(text, text.slice(0, state) + each)]))
    const ways = Array.from({ length: state + 1 }, (_, target): string[] => {
      if (target === 0)
        return [
          `[^\\/${characters
            .filter((each) => targets.get(each) !== 0)
            .map(escapeCharacter)
            .join('')}]`,
        ]
      return characters.filter((each) => targets.get(each) === target).map(escapeCharacter)
    })
    return { ways, ends: [] as string[] }
  })

  for (let state = text.length - 1; state > 0; state -= 1) {
    const [taken, before] = [states[state], states[state - 1]]
    const step = escapeCharacter(text[state - 1] ?? '') + repeated(taken?.ways[state] ?? [], '*')
    for (let target = 0; target < state; target += 1) {
      const ways = taken?.ways[target] ?? []
      if (ways.length > 0) before?.ways[target]?.push(`${step}(?:${ways.join('|')})`)
    }
    const ends = taken?.ends ?? []
    before?.ends.push(ends.length === 0 ? step : `${step}(?:${ends.join('|')})?`)
  }

  const rounds = states[0]?.ways[0] ?? []
  const ends = states[0]?.ends ?? []
  if (ends.length === 0) return repeated(rounds, '+')
  return `(?:${repeated(rounds, '+')}(?:${ends.join('|')})?|${ends.join('|')})`
}

function longestStart(text: string, seen: string): number {
  for (let length = seen.length; length > 0; length -= 1) if (text.startsWith(seen.slice(-length))) return length
  return 0
}

function repeated(ways: readonly string[], count: '*' | '+'): string {
  return ways.length === 0 ? '' : `(?:${ways.join('|')})${count}`
}

function escapeCharacter(character: string): string {
  return /[a-z\d]/.test(character) ? character : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}
