import { describe, expect, test } from 'vitest'
import { bodyKind, readBodyType } from '../../../src/server/http/body/body-kind.ts'

describe('what a body is depends on no spelling of its Content-Type', () => {
  test.for([
    ['application/x-www-form-urlencoded', 'urlencoded'],
    ['application/x-www-form-urlencoded; charset=utf-8', 'urlencoded'],
    ['application/x-www-form-urlencoded;charset="UTF-8"', 'urlencoded'],
    ['APPLICATION/X-WWW-FORM-URLENCODED ; charset=utf8', 'urlencoded'],
    ['multipart/form-data; boundary=x', 'multipart'],
    ['multipart/form-data; boundary=x;', 'multipart'],
    ['multipart/form-data', 'multipart'],
    ['application/json', 'json'],
    ['application/json;', 'json'],
    ['Application/JSON;v=1', 'json'],
    ['application/json\t;x', undefined],
    ['application/json\t; x=1', 'json'],
    ['APPLICATION/JSON ; charset=x', undefined],
    ['application/json; charset=utf-16', undefined],
    ['application/json; charset=utf-8; charset=utf-7', undefined],
    ['application/json, text/plain', undefined],
    ['application/jsonx', undefined],
    ['application/json/', undefined],
    ['application/problem+json', undefined],
    ['application/x-www-form-urlencoded-not', undefined],
    ['multipart/form-data; boundary=x; boundary=y', undefined],
    ['multipart/form-data; boundary="x', undefined],
    ['multipart/form-data; boundary="a\\b"', undefined],
    ['multipart/mixed; boundary=x', undefined],
    ['TEXT/PLAIN', undefined],
    ['text/x-component', undefined],
    ['', undefined],
    [';', undefined],
    [undefined, undefined],
    ['__proto__', undefined],
  ] as const)('%j is %s', ([header, kind]) => {
    expect(bodyKind(header)).toBe(kind)
  })
})

describe('a boundary is one by RFC 2046 or none', () => {
  const longest = 'b'.repeat(70)
  test.for([
    ['multipart/form-data; boundary=----WebKitFormBoundaryAb12', '----WebKitFormBoundaryAb12'],
    ['multipart/form-data; boundary="a b:c"', 'a b:c'],
    ['multipart/form-data; Boundary=x', 'x'],
    [`multipart/form-data; boundary=${longest}`, longest],
    [`multipart/form-data; boundary=${longest}b`, undefined],
    ['multipart/form-data; boundary=""', undefined],
    ['multipart/form-data; boundary="a "', undefined],
    ['multipart/form-data', undefined],
  ] as const)('%j', ([header, boundary]) => {
    expect(readBodyType(header)).toEqual({ kind: 'multipart', boundary })
  })
})
