import { array, assert, constantFrom, letrec, oneof, property, string, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { compileExpression } from '../../../src/shared/rules/expression.ts'
import { ExpressionError, type ReadingOptions } from '../../../src/shared/rules/linear-syntax.ts'
import { segmentWithout } from '../../../src/shared/rules/segment-without.ts'

const SOURCE: ReadingOptions = { ignoreCase: true, captures: 'all' }
const CONDITION: ReadingOptions = { ignoreCase: false, captures: 'named' }

/** Ranges of all groups as the platform's engine finds them; the reference for ours, on texts of this file only. */
function platformRanges(source: string, text: string, flags: string): readonly number[] | undefined {
  const indices = new RegExp(`^(?:${source})$`, `d${flags}`).exec(text)?.indices
  return indices && Array.from(indices).flatMap((range) => range ?? [-1, -1])
}

function ranges(source: string, text: string): readonly number[] | undefined {
  const found = compileExpression(source, SOURCE, loadExpressionEngine).match(text)
  return found && Array.from(found)
}

/** What the groups with a name capture in a condition; `undefined` where it does not hold. */
function namedGroups(source: string, text: string): Record<string, string> | undefined {
  const { names, match } = compileExpression(source, CONDITION, loadExpressionEngine)
  const found = match(text)
  if (found === undefined) return undefined
  const captured = names.flatMap((name, at) => {
    const start = found[2 * at + 2] ?? -1
    return start === -1 ? [] : [[name ?? '', text.slice(start, found[2 * at + 3])] as const]
  })
  return Object.fromEntries(captured)
}

function platformGroups(source: string, text: string, flags: string): Record<string, string> | undefined {
  const found = new RegExp(`^(?:${source})$`, flags).exec(text)
  if (found === null) return undefined
  return Object.fromEntries(Object.entries(found.groups ?? {}).filter(([, value]) => value !== undefined))
}

function refusal(source: string, options: ReadingOptions = SOURCE): ExpressionError | undefined {
  try {
    compileExpression(source, options, loadExpressionEngine)
  } catch (error) {
    if (error instanceof ExpressionError) return error
    throw error
  }
  return undefined
}

const ATOMS = (
  'a b k S / . \\. \\d \\D \\w \\W \\s \\S [^\\/] [a-c] [^] [] [^\\s] [\\s\\d-] [^\\W_] [X-c] [^K] \\x61 \\u0062 \\v \\cJ \\0 ' +
  '\\- - % \\b \\B [\\b] { ] \\p \\A \\z \\Q [[:alpha:]] $'
).split(' ')
const QUANTIFIERS = ['', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,}', '{2,}', '{0}', '{0,2}?']

/**
 * Repeats what cannot be empty. The platform tells an empty round of a repeat from a full one, RE2 does not: both find the
 * same texts, and may find other groups in them.
 */
function repeat(part: string, quantifier: string): string {
  const canBeEmpty = /\\[bB]|\$/.test(part) || new RegExp(`^(?:${part})$`).test('')
  return canBeEmpty ? part : `${part}${quantifier}`
}

// Expressions as sources and conditions have them: groups that capture stand outside of repeats.
const { body } = letrec<{ body: string; piece: string; atom: string }>((tie) => ({
  atom: oneof(
    { depthSize: 'small', withCrossShrink: true },
    constantFrom(...ATOMS),
    tie('body').map((inner) => `(?:${inner})`),
  ),
  piece: tuple(tie('atom'), constantFrom(...QUANTIFIERS)).map(([atom, quantifier]) =>
    atom === '{' ? atom : repeat(atom, quantifier),
  ),
  body: oneof(
    array(tie('piece'), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')),
    tuple(tie('piece'), tie('piece')).map((options) => options.join('|')),
  ),
}))
const UNITS = ['a', 'A', 'b', 'k', 'K', 's', 'S', '/', '.', '1', '-', '%', ' ', '\n', '\v', '_', 'p', '{']
const ascii = string({ unit: constantFrom(...UNITS), maxLength: 8 })
// Kelvin sign, long s, no-break space, byte order mark, line separator, half of a pair, private use.
const anyText = string({
  unit: constantFrom(...UNITS, '\u212a', '\u017f', '\u00a0', '\ufeff', '\u2028', '\ud800', '\ue000', '\u00e9'),
  maxLength: 8,
})

describe('an expression', () => {
  it('of a source finds what the platform finds, groups included', () => {
    const sources = array(
      oneof(
        body.map((inner) => `(${inner})`),
        body.map((inner) => `(?:\\/((?:${inner})))?`),
        body.map((inner) => repeat(`(${inner})`, '?')),
        body,
      ),
      { minLength: 1, maxLength: 3 },
    )
    assert(
      property(sources, ascii, (parts, text) => {
        const source = parts.map((part) => (part.includes('|') ? `(?:${part})` : part)).join('')
        expect(ranges(source, text)).toEqual(platformRanges(source, text, 'i'))
      }),
      { numRuns: 400 },
    )
  })

  it('of any kind fits the texts that it fits on the platform', () => {
    const repeats = array(tuple(body, constantFrom('', '*', '+', '?', '*?', '{0,3}', '{2}')), {
      minLength: 1,
      maxLength: 3,
    })
    assert(
      property(repeats, ascii, (parts, text) => {
        const source = parts.map(([part, quantifier]) => `(?:${part})${quantifier}`).join('')
        expect(ranges(source, text) !== undefined).toBe(platformRanges(source, text, 'i') !== undefined)
      }),
      { numRuns: 400 },
    )
  })

  it('of a condition finds what the platform finds, whatever characters a visitor sends', () => {
    // V8 errs about some expressions of which only a part has a flag, so here the whole one has it.
    const conditions = tuple(
      array(
        oneof(
          body.map((inner) => `(?:${inner})`),
          body.map((inner) => `(${inner})`),
        ),
        { maxLength: 2 },
      ),
      body.map((inner) => repeat(`(?<one>${inner})`, '?')),
      constantFrom('', 'i', 's', 'is'),
    )
    assert(
      property(conditions, anyText, ([parts, named, flags], text) => {
        const source = [...parts, named].join('')
        expect(namedGroups(`(?${flags}:${source})`, text)).toEqual(platformGroups(source, text, flags))
      }),
      { numRuns: 400 },
    )
  })

  it('refuses one part of the text at the start of a group as the platform does', () => {
    const before = oneof(
      constantFrom(
        '',
        '\\/',
        '\\/a-',
        '\\/[^\\/]+?\\/',
        '(?:\\/(a|b\\w*))\\/',
        '(?:\\/([^\\/]+?))(?:\\/[ab]{2})\\/',
        '.{3}',
      ),
      array(constantFrom('a', '[ab]', '\\d', '(?:a|b)'), { maxLength: 2 }).map((pieces) => pieces.join('')),
    )
    assert(
      property(before, body, body, body, ascii, (start, refused, inside, rest, text) => {
        const source = `^${start}((?!${refused})(?:${inside}))(?:${rest})$`
        expect(ranges(source, text)).toEqual(platformRanges(source, text, 'i'))
      }),
      { numRuns: 400 },
    )
  })

  it.each([
    ['^\\/((?!api|static).*)$', ['/api', '/apis', '/static/x', '/about', '/', '/a/api']],
    [
      '^(?:\\/((?!api|_next\\/static|favicon.ico).*))[\\/#\\?]?$',
      ['/_next/static', '/_next/data', '/favicon.ico', '/x'],
    ],
    ['^(?:\\/((?!another-page$).*))[\\/#\\?]?$', ['/another-page', '/another-page/x', '/other']],
    ['^\\/((?!\\.well-known(?:\\/.*)?)(?:[^\\/]+\\/)*[^\\/.]+\\.\\w+)\\/$', ['/a/b.c/', '/.well-known/b.c/', '/a/b/']],
    ['(?!.*bot).*', ['a bot', 'Mozilla', '']],
    ['^(?!bot).*', ['bot', 'a bot']],
    ['(?<agent>(?!bot).*)', ['bot', 'a bot']],
  ])('%s is a match and a non-match', (source, texts) => {
    for (const text of texts) expect([text, ranges(source, text)]).toEqual([text, platformRanges(source, text, 'i')])
  })

  it.each([
    ['(a)\\1', /refers back/],
    ['(?<n>a)\\k<n>', /refers back/],
    ['(?<=a)b', /looks behind/],
    ['a(?<!b)c', /looks behind/],
    ['(?=a).*', /looks ahead/],
    ['a(?!b).*', /looks ahead/],
    ['((?!a).)*', /looks ahead/],
    ['(?:(?!a).*)?', /looks ahead/],
    ['(?:(?!a)b|c)', /looks ahead/],
    ['(?!a)(?!b).*', /looks ahead/],
    ['((?!a(?=b)).*)', /looks ahead/],
    ['(?:\\/en)?\\/((?!api).*)', /looks ahead/],
    ['\\/[^\\/]+-((?!api).*)', /looks ahead/],
    ['(?m:^a$)', /flag m/],
    ['(?:(?<n>a)|b)*', /some rounds/],
    ['a{6000}', /6000 steps/],
    ['(?:a{0,99}){99}', /steps/],
    ['(?i:\u00e4)', /both|ASCII/],
    ['(', /Unterminated group/],
  ])('%s stops the build with the reason and the way out', (source, reason) => {
    const error = refusal(source, CONDITION) ?? refusal(source)
    expect(error?.message).toMatch(reason)
    expect(error?.wayOut).toMatch(/^[A-Z].*[^.]$/)
  })

  it.each(['a{1001}', 'a{999,1500}', '(?:ab?){1,1200}', '(?:a{600}){3}', '(a{1100,}?)(a*)', '(?:a{40}){30,40}b?'])(
    'repeats as often as %s says, which RE2 does not',
    (source) => {
      for (const length of [0, 1, 998, 999, 1_000, 1_001, 1_099, 1_100, 1_500, 1_501, 1_800, 1_801]) {
        const text = 'a'.repeat(length)
        expect([length, ranges(source, text)]).toEqual([length, platformRanges(source, text, 'i')])
      }
    },
  )

  it('counts a character outside the Basic Multilingual Plane as one, as the flag u does', () => {
    expect(namedGroups('(?<one>.)b', '\u{1f600}b')).toEqual({ one: '\u{1f600}' })
    expect(namedGroups('[\u{1f600}-\u{1f610}]+', '\u{1f601}\u{1f610}')).toEqual({})
    expect(namedGroups('[^a]', '\u{1f600}')).toEqual({})
  })

  it('of a param behind a text has no look-ahead and fits what the one with it fits', () => {
    for (const text of ['-', '--', 'ab', 'aab', 'aba', 'abab', '-to-']) {
      const without = new RegExp(`^(?:${segmentWithout(text)})$`)
      const looking = new RegExp(`^(?:(?:(?!${text})[^\\/])+?)$`)
      const walk = (word: string): void => {
        expect(without.test(word), `${text} in ${word}`).toBe(looking.test(word))
        if (word.length < 5) for (const next of new Set([...text, 'x', '/'])) walk(word + next)
      }
      walk('')
    }
  })
})
