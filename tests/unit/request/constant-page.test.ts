import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { constantPage } from '../../../src/server/request/answer/constant-page.ts'
import { CONSTANT_PAGE_POLICY } from '../../../src/server/request/answer/security-headers.ts'

test('a constant page shows what it is told as text', () => {
  const html = constantPage({ status: 400, message: '</p><script>alert(1)</script>', digest: '"><b>' })
  expect(html).toContain('<p>&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;</p>')
  expect(html).toContain('Digest: &quot;&gt;&lt;b&gt;')
  expect(html).not.toContain('<script')
})

test.for([
  [400, ['/']],
  [413, ['/']],
  [429, ['', '/']],
  [503, ['', '/']],
] as const)('a constant page has a way on, and another try only where that may go better: %i', ([status, ways]) => {
  const hrefs = [...constantPage({ status }).matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href)
  expect(hrefs).toEqual(ways)
})

test('a constant page has the style that its policy allows', () => {
  const [, style = ''] = /<style>(.*?)<\/style>/.exec(constantPage({ status: 400 })) ?? []
  expect(style).toContain('color-scheme')
  const hash = createHash('sha256').update(style).digest('base64')
  expect(CONSTANT_PAGE_POLICY).toContain(`style-src 'sha256-${hash}';`)
})

test('a constant page of a failure has the wording of every failure, and its digest', () => {
  const html = constantPage({ status: 500, digest: 'abcdef012345' })
  expect(html).toContain('<h1 data-testid="error">Application error: a server-side exception has occurred</h1>')
  expect(html).toContain('<p data-testid="digest">Digest: abcdef012345</p>')
  expect(html).toContain('<meta name="robots" content="noindex">')
})
