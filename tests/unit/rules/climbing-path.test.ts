import { describe, expect, it } from 'vitest'
import { mayClimb } from '../../../src/shared/rules/climbing-path.ts'

describe('a path for another origin', () => {
  it.each([
    '/up/../admin',
    '/up/%2e%2e/admin',
    '/up/.%2E/admin',
    '/up/..%2fadmin',
    '/up/..%2Fadmin',
    '/up/..%5cadmin',
    '/up/a%2f..%2fadmin',
    '/up/a%2f..',
    '/up/%2e%2e%2fadmin',
    '/up/..%252fadmin',
    '/up/%252e%252e%252fadmin',
    '/up/%25252e%25252e%25252fadmin',
    '/up/..;/admin',
    '/up/..;a=b/admin',
    '/up/..%3b/admin',
    '/up/%2e%2e%3Ba%2fadmin',
    '/up/.;/admin',
    '/up/a%2f.%2fb',
    '/up/..\\admin',
    '/up/%c0%ae%c0%ae%c0%afadmin',
    '/up/..%c1%9cadmin',
    '/up/%u002e%u002e%u002fadmin',
    '/up/%2525252525252e',
    '/up/..%20/admin',
    '/up/%20../admin',
    '/up/.%09./admin',
    '/up/..%2509%2fadmin',
    '/up/..%00/admin',
    '/up/..%00.png',
    '/up/a%2500b',
    '/up/..%3f',
    '/up/..%3fx',
    '/up/%2e%2e%3Fx=1',
    '/up/..%253f',
    '/up/..%23',
    '/up/a%2f..%3f',
    '/up/..%20%3f',
    '/up/.%3f',
    '/up/..%26x',
    '/up/..:$DATA',
    '/up/..%3a%3a$INDEX_ALLOCATION/admin',
    '/up/..%7c',
    '/up/..%22/admin',
    '/up/..%2a',
    '/up/%e0%80%ae%e0%80%ae%e0%80%afadmin',
    '/up/%25f0%2580%2580%25ae.%2fadmin',
    '/up/..%c0%bf',
    '/up/%ef%bc%8e%ef%bc%8e%ef%bc%8fadmin',
    '/up/%uff0e%uff0e%u2215admin',
    '/up/%e2%80%a5/admin',
    '/up/..%ef%bc%bcadmin',
    '/up/..%ef%bc%9f',
  ])('%s may climb', (path) => {
    expect(mayClimb(path)).toBe(true)
  })

  it.each([
    '/',
    '/up/a..b',
    '/up/..a',
    '/up/...',
    '/up/a%2fb',
    '/up/a%252fb',
    '/up/100%25',
    '/up/%C3%A4.html',
    '/up/a;v=1/b',
    '/up/..a%2fb',
    '/up/v1..2%2Fx',
    '/up/%E2%80%A6/x',
    '/up/%zz',
    '/up/.well-known/x',
    '/up/a%20.%20b/x',
    '/up/%20/x',
    '/up/what%3f',
    '/up/a..%3f',
    '/up/.(draft)',
    '/up/.@types',
    '/up/..~x',
    '/up/..%C3%A4',
    '/up/%EF%BC%8F%EF%BC%9F',
    '/up/%E6%9D%B1%E4%BA%AC..%3f',
  ])('%s does not', (path) => {
    expect(mayClimb(path)).toBe(false)
  })

  it('is looked at in time by its length, whatever stands around its dots', () => {
    expect(mayClimb(`/up/${'%20'.repeat(1_300)}.${'%20'.repeat(1_300)}x`)).toBe(false)
  })

  it('decodes as often as an upstream may, not as often as a visitor likes', () => {
    expect(mayClimb(`/up/%${'25'.repeat(4_000)}41`)).toBe(true)
  })
})
