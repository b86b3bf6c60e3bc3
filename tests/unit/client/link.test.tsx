import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { external } from '../../../src/shared/external.ts'
import { Link } from '../../../src/client/react/link.tsx'

/** Takes a URL as browsers do: control characters and spaces around it, tabs and line breaks anywhere, are dropped. */
const schemeOf = (href: string): string => new URL(href, 'http://here.test').protocol

const SCRIPTS = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  '\u0000javascript:alert(1)',
  '\u0001\u001f \tjavascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  'j\ra\nv\ta\r\nscript\t:alert(1)',
  'javascript\n:alert(1)',
  'javascript://%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'DATA:text/html;base64,PHNjcmlwdD4=',
  ' da\tta:text/html,x',
  'vbscript:msgbox(1)',
  'VB\nScript:x',
]

describe('a link without a target', () => {
  test.for(SCRIPTS)('is what becomes of %j', (href) => {
    expect(['javascript:', 'data:', 'vbscript:']).toContain(schemeOf(href))
    expect(renderToStaticMarkup(<Link href={href}>text</Link>)).toBe('<a>text</a>')
  })
})

test('a link to what external() has disarmed has no target', () => {
  expect(renderToStaticMarkup(<Link href={external('javascript:alert(1)')}>text</Link>)).toBe('<a>text</a>')
})

describe('a link to', () => {
  test.for([
    '/',
    '/javascript:alert(1)',
    '/a?b=javascript:x#data:',
    'https://example.test/a',
    'http://example.test',
    'mailto:a@example.test',
    'tel:+1',
    '#javascript:x',
    '?data:',
    '',
    'javascripts:x',
    'java',
    'database:x',
    './data:x',
  ])('%j stays', (href) => {
    expect(renderToStaticMarkup(<Link href={href}>text</Link>)).toBe(`<a href="${href}">text</a>`)
  })
})

test('a link keeps the attributes of an anchor, and says how it is prefetched', () => {
  const html = renderToStaticMarkup(
    <Link href="/a" className="x" target="_blank" prefetch="viewport">
      text
    </Link>,
  )
  expect(html).toBe('<a class="x" target="_blank" href="/a" data-prefetch="viewport">text</a>')
})
