import { describe, expect, test } from 'vitest'
import { external } from '../../../src/shared/external.ts'

describe('a text from outside', () => {
  test.for([
    '/mills/7',
    'https://example.com/a',
    'mailto:mill@example.com',
    '?page=2',
    '#wheels',
    '',
    'mills',
    '//example.com',
  ])('goes through as it is: %j', (text) => {
    expect(external(text)).toBe(text)
  })

  test.for(['javascript:alert(1)', ' JavaScript:alert(1)', 'java\tscript:alert(1)', 'data:text/html,x', 'vbscript:x'])(
    'runs no script: %j',
    (text) => {
      expect(new URL(external(text)).protocol).toBe('unsafe:')
      expect(external(external(text))).toMatch(/^unsafe:/)
    },
  )
})
