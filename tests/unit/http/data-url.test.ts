import { array, assert, constantFrom, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isDataPath, readDataUrl } from '../../../src/server/http/data-url.ts'
import { MAX_SEGMENTS } from '../../../src/shared/protocol/route-data.ts'

describe('the URL of a page’s data', () => {
  test.for([
    ['/_m/data', '/'],
    ['/_m/data/', '/'],
    ['/_m/data/a/b', '/a/b'],
    ['/_m/data/a%2Fb', '/a%2Fb'],
    ['/_m/data/_m/data/a', '/_m/data/a'],
  ] as const)('%s is that of %s', ([pathname, page]) => {
    expect(isDataPath(pathname)).toBe(true)
    expect(readDataUrl(pathname, '')).toEqual({ pathname: page, search: '' })
  })

  test.for(['/', '/_m', '/_m/', '/_m/database', '/_m/data%2Fa', '/x/_m/data', '/_m/Data'])('%s is none', (pathname) => {
    expect(isDataPath(pathname)).toBe(false)
  })
})

describe('the wanted segments', () => {
  test.for([
    ['?a=1', '?a=1', undefined],
    ['?_m=', '', []],
    ['?_m', '', []],
    ['?_m=%2Fa%23page', '', ['/a#page']],
    ['?a=1&_m=%2Fa%23page&b', '?a=1&b', ['/a#page']],
    ['?_m=x&_m=y&_m=x&_m=', '', ['x', 'y']],
    ['?_m=a+b', '', ['a+b']],
    ['?_ma=1&a_m=2&%5Fm=3', '?_ma=1&a_m=2&%5Fm=3', undefined],
    ['?a=_m=x', '?a=_m=x', undefined],
    ['?a&&_m=x', '?a&', ['x']],
    ['?_M=x', '?_M=x', undefined],
  ] as const)('of %s', ([query, search, segments]) => {
    expect(readDataUrl('/_m/data/p', query)).toEqual({
      pathname: '/p',
      search,
      ...(segments === undefined ? {} : { segments }),
    })
  })

  test('are refused where one does not decode, or there are too many', () => {
    expect(readDataUrl('/_m/data', '?_m=%ff').fault).toBeDefined()
    const named = (count: number) => `?${Array.from({ length: count }, () => '_m=x').join('&')}`
    expect(readDataUrl('/_m/data', named(MAX_SEGMENTS)).fault).toBeUndefined()
    expect(readDataUrl('/_m/data', named(MAX_SEGMENTS + 1)).fault).toBeDefined()
  })

  test('behind any query leave that query as it was', () => {
    const pair = string({ unit: constantFrom(...'ab=%2+&_m;/?') }).filter((text) => !/(?:^|&)_m(?:=|&|$)/.test(text))
    assert(
      property(pair, array(constantFrom('/#layout', '/a#page'), { minLength: 1, maxLength: 3 }), (query, ids) => {
        const ours = ids.map((id) => `_m=${encodeURIComponent(id)}`).join('&')
        const { search, segments } = readDataUrl('/_m/data/p', query === '' ? `?${ours}` : `?${query}&${ours}`)
        expect(search).toBe(query === '' ? '' : `?${query}`)
        expect(segments).toEqual([...new Set(ids)])
      }),
    )
  })
})
