import { array, assert, constantFrom, integer, oneof, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HrefFault, HrefSearch } from '../../../src/shared/href.ts'
import { href, HrefError } from '../../../src/shared/href.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'

const page = () => Promise.resolve({})

// Code units at random: well-formed text, half surrogates, controls, and the characters that mean something in a URL.
const text = oneof(
  array(integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
  string({ unit: 'grapheme', maxLength: 8 }),
  string({ unit: constantFrom('/', '%', '.', '?', '#', '2', 'e', '\\', ':', '@', ' ', '+', '&', ';', "'", '[') }),
)

const wellFormed = text.filter((value) => value.isWellFormed())
const canBeAPathSegment = (value: string) => value.isWellFormed() && !['', '.', '..'].includes(value)

function matchedParams(pattern: string, url: string) {
  const match = createRouteTable({ [pattern]: { page } }).match(url)
  return match?.error === undefined ? { ...match?.params } : match.error
}

/** What comes back from the URL that was built, or `refused`. */
function comesBack(pattern: string, params: Record<string, unknown>) {
  try {
    return matchedParams(pattern, href(pattern, params as never))
  } catch (error) {
    if (error instanceof HrefError) return 'refused'
    throw error
  }
}

function faultOf(build: () => string): HrefFault | undefined {
  try {
    build()
  } catch (error) {
    if (error instanceof HrefError) return error.kind
    throw error
  }
  return undefined
}

describe('every value that a path can contain comes back from its URL', () => {
  it('in a param', () => {
    assert(
      property(text, (id) => {
        expect(comesBack('/a/[id]/b', { id })).toEqual({ id: canBeAPathSegment(id) ? id : '\ufffd' })
      }),
      { numRuns: 1000 },
    )
  })

  it('in a catch-all', () => {
    assert(
      property(array(text, { maxLength: 4 }), (path) => {
        const back = { path: path.map((segment) => (canBeAPathSegment(segment) ? segment : '\ufffd')) }
        expect(comesBack('/[...path]', { path })).toEqual(path.length > 0 ? back : 'refused')
      }),
      { numRuns: 500 },
    )
  })

  it('in a static segment of the pattern', () => {
    assert(
      property(text.filter(canBeAPathSegment), (value) => {
        const pattern = `/x/${encodeURIComponent(value)}`
        expect(matchedParams(pattern, href(pattern))).toEqual({})
      }),
      { numRuns: 500 },
    )
  })

  it('and a browser leaves the URL as it is, on this site', () => {
    assert(
      property(text.filter(canBeAPathSegment), (id) => {
        const url = new URL(href('/[id]', { id }), 'https://site.test')
        expect(url.pathname).toBe(href('/[id]', { id }))
        expect(url.origin).toBe('https://site.test')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('what a URL looks like', () => {
  it.each([
    [href('/'), '/'],
    [href('/(site)'), '/'],
    [href('/(site)/lab/params/[id]', { id: '7' }), '/lab/params/7'],
    [href('/lab/params/[id]', { id: 'a b/c' }), '/lab/params/a%20b%2Fc'],
    [href('/[name]', { name: '//evil.test' }), '/%2F%2Fevil.test'],
    [href('/[name]', { name: '\\evil.test' }), '/%5Cevil.test'],
    [href('/[id]', { id: '%2e%2e' }), '/%252e%252e'],
    [href('/[id]', { id: '...' }), '/...'],
    [href('/@me/a:b'), '/@me/a:b'],
    [href('/café/[id]', { id: '你' }), '/caf%C3%A9/%E4%BD%A0'],
    [href('/caf%C3%A9'), '/caf%C3%A9'],
    [href('/docs/[[...slug]]'), '/docs'],
    [href('/docs/[[...slug]]', {}), '/docs'],
    [href('/docs/[[...slug]]', { slug: [] }), '/docs'],
    [href('/docs/[[...slug]]', { slug: ['a', 'b/c'] }), '/docs/a/b%2Fc'],
    [href('/[[...slug]]'), '/'],
    [href('/a/[__proto__]', JSON.parse('{"__proto__":"1"}')), '/a/1'],
  ])('%s', (built, expected) => {
    expect(built).toBe(expected)
  })

  it('the search part is encoded, repeats a key for a list, and leaves out what is undefined', () => {
    const search = { q: 'a b&c=d', n: 3, on: false, tag: ['x', 'y/z'], none: undefined, empty: [], 'k ey': '' }
    expect(href('/lab', {}, search)).toBe('/lab?q=a%20b%26c%3Dd&n=3&on=false&tag=x&tag=y%2Fz&k%20ey=')
    expect(href('/[id]', { id: '1' }, { none: undefined })).toBe('/1')
    expect(href('/docs/[[...slug]]', undefined, { q: 1 })).toBe('/docs?q=1')
  })

  it('leaves out search params that have their default', () => {
    const defaults = { word: '', page: 1, tag: ['a', 'b'], order: 'name' }
    const to = (search: HrefSearch) => href('/lab', {}, search, { defaults })
    expect(to({ word: '', page: 1, tag: ['a', 'b'], order: 'name' })).toBe('/lab')
    expect(to({ word: 'x', page: '1', tag: ['b', 'a'], order: 'age', show: '' })).toBe(
      '/lab?word=x&tag=b&tag=a&order=age&show=',
    )
    expect(to({ word: 'undefined', tag: 'a,b' })).toBe('/lab?word=undefined&tag=a%2Cb')
    expect(href('/lab', {}, { show: 'undefined' }, { defaults: { show: undefined } })).toBe('/lab?show=undefined')
  })

  it('any text comes back from the search part', () => {
    assert(
      property(wellFormed, wellFormed, (key, value) => {
        const url = new URL(href('/', {}, { [key]: value }), 'https://site.test')
        expect([...url.searchParams]).toEqual([[key, value]])
      }),
    )
  })
})

describe('a text that no path can contain leads to a page that is not found', () => {
  it.each(['', '.', '..', '\ud83d', 'a\udc00b'])('%j', (text) => {
    expect(href('/a/[id]', { id: text })).toBe('/a/%EF%BF%BD')
    expect(href('/a/[...id]', { id: ['a', text] })).toBe('/a/a/%EF%BF%BD')
  })

  it('halves of characters in the search part are replaced', () => {
    expect(href('/', {}, { '\ud83d': 'a', q: ['a', '\udc00b'] })).toBe('/?%EF%BF%BD=a&q=a&q=%EF%BF%BDb')
  })
})

describe('a param that is none is refused by name', () => {
  it.each<[params: Record<string, unknown>, pattern: string, kind: HrefFault]>([
    [{}, '/a/[id]', 'missing'],
    [{ id: undefined }, '/a/[id]', 'missing'],
    [{ id: 7 }, '/a/[id]', 'not-text'],
    [{ id: null }, '/a/[id]', 'not-text'],
    [{ id: ['a'] }, '/a/[id]', 'not-text'],
    [{}, '/a/[toString]', 'missing'],
    [{}, '/a/[...id]', 'missing'],
    [{ id: [] }, '/a/[...id]', 'missing'],
    [{ id: 'a' }, '/a/[...id]', 'not-text'],
  ])('%j in %s: %s', (params, pattern, kind) => {
    expect(faultOf(() => href(pattern, params as never))).toBe(kind)
  })

  it('the message names the pattern, the param and the fault', () => {
    expect(() => href('/a/[id]', { id: 7 } as never)).toThrow('No URL for /a/[id]: "id" is not text; convert it first.')
  })
})
