import { array, assert, constantFrom, pre, property, tuple } from 'fast-check'
import { parse, tokensToRegexp } from 'path-to-regexp'
import { describe, expect, it } from 'vitest'
import { compilePlainSource } from '../../../src/shared/rules/plain-source.ts'

/** What path-to-regexp's own expression finds; the reference for ours, on paths of this file only. */
function reference(source: string, path: string): readonly number[] | undefined {
  const { source: expression } = tokensToRegexp(parse(source, { delimiter: '/' }), [], {
    delimiter: '/',
    strict: false,
  })
  const indices = new RegExp(expression, 'di').exec(path)?.indices
  return (
    indices &&
    Array.from(indices)
      .flatMap((range) => range ?? [-1, -1])
      .slice(2)
  )
}

const segments = array(constantFrom('a', 'B', ':x', ':y', ':z?', ':z*', ':z+', 'a.b'), { maxLength: 4 })
const paths = array(constantFrom('a', 'A', 'b', 'B', 'x', 'a.b', ''), { maxLength: 6 })

describe('a source of whole segments', () => {
  it('finds what its expression would find', () => {
    let compared = 0
    assert(
      property(segments, tuple(paths, constantFrom('', '/')), (parts, [path, end]) => {
        // Two params of one name are told apart by their place.
        const source = `/${parts.map((part, at) => part.replace(/^:./, (name) => `${name}${at}`)).join('/')}`
        const text = `/${path.join('/')}${path.length > 0 ? end : ''}`
        pre(text !== '//') // no path has repeated slashes, and this one is both the root and an empty segment
        const find = compilePlainSource(parse(source, { delimiter: '/' }))
        if (find === undefined) {
          expect(parts.filter((part) => part.startsWith(':z')).length).toBeGreaterThan(1)
          return
        }
        compared += 1
        const found = find(text)
        expect(found && Array.from(found).slice(2), `${source} on ${text}`).toEqual(reference(source, text))
      }),
      { numRuns: 3_000 },
    )
    expect(compared).toBeGreaterThan(1_000)
  })

  it.each(['/a/', '/a//b', '/:a-:b', '/a-:b', '/:a(\\d+)', '/(.*)', '/:a*/:b*', '/a{/:b}?c', '/:a.:b', '/a{-b}?'])(
    'is not %s',
    (source) => {
      expect(compilePlainSource(parse(source, { delimiter: '/' }))).toBeUndefined()
    },
  )
})
