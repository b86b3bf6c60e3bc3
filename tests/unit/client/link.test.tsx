import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { external } from '../../../src/shared/external.ts'
import { ViewContext } from '../../../src/client/react/contexts.ts'
import { Link } from '../../../src/client/react/link.tsx'
import type { RouteView } from '../../../src/client/react/route-view.ts'

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

/** Marked links of a page at this location. */
function markedAt(pathname: string, search: string, links: readonly ReactElement[]): string {
  const view: RouteView = { chain: [], params: {}, search: {}, data: {}, location: { pathname, search } }
  return renderToStaticMarkup(<ViewContext value={view}>{links}</ViewContext>)
    .split('<a')
    .filter((link) => link.includes('aria-current="page"'))
    .map((link) => /href="([^"]*)"/.exec(link)?.[1])
    .join(' ')
}

describe('a link with current marks the page on screen', () => {
  const links = (current: 'exact' | 'below') =>
    ['/', '/a', '/a/b', '/ab', '/a?x=1', '?x=1', '', '//a', '/\\a', 'https://site.test/a', '/é', 'http://['].map(
      (href) => <Link key={href} href={href} current={current} />,
    )

  test.for([
    ['/', '', '/ '],
    ['/a', '', '/a '],
    ['/a', '?x=1', '/a /a?x=1 ?x=1 '],
    ['/a', '?x=2&x=1', '/a /a?x=1 ?x=1 '],
    ['/a/b', '', '/a/b '],
    ['/%C3%A9', '', ' /é'],
  ] as const)('exactly at %s%s: %s', ([pathname, search, marked]) => {
    expect(markedAt(pathname, search, links('exact'))).toBe(marked)
  })

  test.for([
    ['/', '', '/ '],
    ['/a/b', '', '/ /a /a/b '],
    ['/a/b', '?x=1', '/ /a /a/b /a?x=1 ?x=1 '],
    ['/abc', '', '/ '],
  ] as const)('at %s%s and below: %s', ([pathname, search, marked]) => {
    expect(markedAt(pathname, search, links('below'))).toBe(marked)
  })

  test('unless it says itself what it is, or is outside of a page', () => {
    const own = <Link key="own" href="/a" current="exact" aria-current="step" />
    expect(markedAt('/a', '', [own])).toBe('')
    expect(renderToStaticMarkup(<Link href="/a" current="exact" scroll={false} />)).toBe(
      '<a href="/a" data-keep-scroll="true"></a>',
    )
  })
})
