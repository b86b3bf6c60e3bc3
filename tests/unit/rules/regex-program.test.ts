import { array, assert, constant, constantFrom, letrec, oneof, pre, property, string, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Program } from '../../../src/shared/rules/regex-program.ts'
import { compileProgram } from '../../../src/shared/rules/regex-program.ts'
import { runProgram } from '../../../src/shared/rules/regex-runner.ts'

/** Ranges of all groups as the platform's engine finds them. */
function platformRanges(source: string, text: string): readonly number[] | undefined {
  const indices = new RegExp(source, 'di').exec(text)?.indices
  return (
    indices &&
    Array.from(indices)
      .slice(1)
      .flatMap((range) => range ?? [-1, -1])
  )
}

function ranges(source: string, text: string): readonly number[] | undefined {
  const program = compileProgram(source)
  if (program === undefined) throw new Error(`Not supported: ${source}`)
  const found = runProgram(program, text)
  return found && Array.from(found).slice(2)
}

/** The program, counting each look at a character. */
function counted(program: Program, counter: { looks: number }): Program {
  return program.map((instruction) => {
    if (instruction.op === 'look') return { ...instruction, program: counted(instruction.program, counter) }
    if (instruction.op !== 'unit') return instruction
    return { ...instruction, accepts: (unit) => ((counter.looks += 1), instruction.accepts(unit)) }
  })
}

// Expressions as sources of rules make them: repeats without captures inside, groups that capture around them.
const { body } = letrec<{ body: string; piece: string; atom: string }>((tie) => ({
  atom: oneof(
    { depthSize: 'small', withCrossShrink: true },
    constantFrom('a', 'b', '/', '.', '\\.', '\\d', '\\w', '[^\\/]', '[a-c]', '[^]', '\\x61', '-', '%', '\\b', '$'),
    tie('body').map((inner) => `(?:${inner})`),
    tie('body').map((inner) => `(?=${inner})`),
    tie('body').map((inner) => `(?!${inner})`),
  ),
  piece: tuple(tie('atom'), constantFrom('', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,}')).map(
    ([atom, quantifier]) => (/^(?:\(\?[=!]|\\b|\$)/.test(atom) ? atom : `${atom}${quantifier}`),
  ),
  body: oneof(
    array(tie('piece'), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')),
    tuple(tie('piece'), tie('piece')).map((options) => options.join('|')),
  ),
}))
const expression = array(
  oneof(
    body.map((inner) => `(${inner})`),
    body.map((inner) => `(?:\\/((?:${inner})))?`),
    constant('\\/'),
  ),
  { minLength: 1, maxLength: 3 },
).map((parts) => `^${parts.join('')}$`)
const text = string({ unit: constantFrom('a', 'A', 'b', 'c', '/', '.', '1', '-', '%', 'é'), maxLength: 8 })

describe('an expression run with memory', () => {
  it.each(['^((?:a*)*)$', '^(?:a|[^]*?)*$', '^(?:(?=a))+$', '^(?:a??){2}$'])(
    'leaves %s to the platform, which tells empty turns of a repeat from full ones',
    (source) => {
      expect(compileProgram(source)).toBeUndefined()
    },
  )

  it('finds what the platform finds, groups included', () => {
    assert(
      property(expression, text, (source, input) => {
        // What is not supported runs on the platform's engine itself.
        pre(compileProgram(source) !== undefined)
        expect(ranges(source, input)).toEqual(platformRanges(source, input))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['^(?:\\/(a))?\\/b$', '/b'],
    ['^\\/((?!api|static).*)$', '/statics'],
    ['^\\/((?!api|static).*)$', '/about'],
    ['^\\/(en|fr)\\/(\\d{1,3})$', '/FR/12'],
    ['^\\/a{,2}{x}$', '/a{,2}{x}'],
    ['^((?:a|ab)(?:c|bcd)(?:d*))$', 'abcd'],
    ['^([\\]a]+)$', 'a]'],
    ['^(\\u0061|\\cA)$', 'a'],
  ])('%s on %s', (source, input) => {
    expect(ranges(source, input)).toEqual(platformRanges(source, input))
  })

  it.each([
    '^(?:\\/((?:[^\\/]+?)(?:\\/(?:[^\\/]+?))*))?\\/x(?:\\/((?:[^\\/]+?)(?:\\/(?:[^\\/]+?))*))?\\/y(?:\\/((?:[^\\/]+?)(?:\\/(?:[^\\/]+?))*))?\\/z$',
    '^\\/(.*)x(.*)x(.*)x(.*)y$',
    '^\\/((?:(?:[a-z\\/]+)+)+)y$',
    '^\\/((?:(?!.*y)[^])*)y$',
  ])('looks at each character a bounded number of times: %s', (source) => {
    const compiled = compileProgram(source)
    if (compiled === undefined) throw new Error('Not supported.')
    const path = '/x'.repeat(4_096)
    const counter = { looks: 0 }
    const program = counted(compiled.program, counter)
    expect(runProgram({ ...compiled, program }, path)).toBeUndefined()
    expect(counter.looks).toBeGreaterThan(0)
    expect(counter.looks).toBeLessThan(5 * source.length * path.length)
  })

  it.each(['(a)\\1', '(?<=a)b', '(?<name>a)', '(?i:a)', '(?=a)*', '(?:(a))*', '(?=(a))', 'a{9999}'])(
    'leaves %s to the platform',
    (source) => {
      expect(compileProgram(source)).toBeUndefined()
    },
  )
})
