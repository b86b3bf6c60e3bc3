import { describe, expect, test } from 'vitest'
import { createLinkJudge } from '../../../scripts/build/project/dead-links.ts'
import { linkLiterals } from '../../../scripts/build/project/link-literals.ts'

const judge = createLinkJudge({
  sources: {
    '/': { layout: 'layout.tsx' },
    '/(site)': { page: 'page.tsx' },
    '/(site)/docs/[[...slug]]': { page: 'page.tsx' },
    '/(site)/mills/[id]': { page: 'page.tsx' },
    '/(site)/mills/[id]/edit': { page: 'page.tsx' },
    '/(site)/area': { layout: 'layout.tsx' },
    '/feed.json': { handler: 'feed.server.ts' },
  },
  urls: {},
  rules: [
    ['/old/:id', 'redirects to /mills/:id (308)'],
    ['/headers-only', 'sets X-Test'],
  ],
})

const found = (code: string, file = 'page.tsx') =>
  linkLiterals(file, code).map(({ kind, text, line, column }) => `${line}:${column} ${kind} ${text}`)

describe('a literal target', () => {
  test.for([
    '/',
    '/docs',
    '/docs/a/b',
    '/mills/7?tab=1#x',
    '/mills/caf%C3%A9',
    '/mills/7/',
    '/feed.json',
    '/old/7',
    '/healthz',
    '?page=2',
    '#x',
    '',
    'https://example.com/none',
    '//example.com',
    'mailto:mill@example.com',
  ])('%j is left alone', (text) => {
    expect(judge.faultOf({ kind: 'path', text })).toBeUndefined()
  })

  test.for([
    ['/mils/7', 'The nearest pattern is /mills/[id].'],
    ['/mills/7/edti', 'The nearest pattern is /mills/[id]/edit.'],
    ['/feed.jsn?x', 'The nearest pattern is /feed.json.'],
    ['/area', 'no route answers /area.'],
    ['/headers-only', `write external('/headers-only')`],
    ['/mills/%zz', 'no route answers /mills/%zz.'],
  ] as const)('%j is dead', ([text, says]) => {
    expect(judge.faultOf({ kind: 'path', text })).toContain(says)
  })

  test('is a pattern of the table in href(), without groups', () => {
    expect(judge.faultOf({ kind: 'pattern', text: '/mills/[id]' })).toBeUndefined()
    expect(judge.faultOf({ kind: 'pattern', text: '/mills/7' })).toContain('is not a pattern of the table')
    expect(judge.faultOf({ kind: 'pattern', text: '/(site)/mills/[id]' })).toContain('is not a pattern of the table')
  })
})

describe('in a table with languages', () => {
  const judge = createLinkJudge({
    sources: {
      '/': { page: 'page.tsx' },
      '/[locale]': { layout: 'layout.tsx', page: 'page.tsx' },
      '/[locale]/mills': { page: 'page.tsx' },
      '/[locale]/[...rest]': { page: 'page.tsx' },
      '/docs/[[...slug]]': { page: 'page.tsx' },
    },
    urls: { '/[locale]': { params: { locale: ['en', 'de', 'pt-BR'] } }, '/[locale]/[...rest]': { linked: false } },
    rules: [['/en/old', 'redirects to /en (308)']],
  })

  test.for(['/en', '/pt-BR/mills', '/de/mills?a#b', '/en/old', '/docs/a'])('%j is left alone', (text) => {
    expect(judge.faultOf({ kind: 'path', text })).toBeUndefined()
  })

  test.for([
    ['/en/mils', 'no route answers /en/mils. The nearest pattern is /[locale]/mills with locale en, de or pt-BR.'],
    ['/fr/mills', 'no route answers /fr/mills. The nearest pattern is /[locale]/mills with locale en, de or pt-BR.'],
    ['/en/a/b', 'no route answers /en/a/b. The nearest pattern is /[locale]/mills'],
    ['/dosc', 'The nearest pattern is /docs.'],
  ] as const)('%j is dead', ([text, says]) => {
    expect(judge.faultOf({ kind: 'path', text })).toContain(says)
  })

  test('no link leads to a pattern that says so', () => {
    const fault = judge.faultOf({ kind: 'pattern', text: '/[locale]/[...rest]' })
    expect(fault).toContain(`href('/[locale]/[...rest]') is a pattern that no link leads to (linked: false).`)
  })
})

test('the nearest pattern is never a catch-all, to which every path is near', () => {
  const sources = { '/files/[...path]': { page: 'page.tsx' }, '/mills/[id]/wheels': { page: 'page.tsx' } }
  const fault = createLinkJudge({ sources, urls: {}, rules: [] }).faultOf({ kind: 'path', text: '/flies/a' })
  expect(fault).toContain('The nearest pattern is /mills/[id]/wheels.')
})

test('plain elements are the host’s where the build has a base path', () => {
  const facts = { sources: { '/': { page: 'page.tsx' } }, urls: {}, rules: [] }
  const about = { kind: 'path', text: '/about', isPlain: true } as const
  expect(createLinkJudge({ ...facts, basePath: '/shop' }).faultOf(about)).toBeUndefined()
  expect(createLinkJudge(facts).faultOf(about)).toContain('no route answers /about')
})

describe('links of a module', () => {
  test('are found in markup, with their places', () => {
    expect(
      found(`import { Link } from 'millrace'
export const a = <Link className="x" href="/a">a</Link>
export const b = (x) => <Link href={x ? '/b' : \`/c\`} />
`),
    ).toEqual(['2:43 path /a', '3:41 path /b', '3:48 path /c'])
    expect(
      found(`import { Form } from 'millrace'; export const d = <Form method="get" href="/e" action="/d" />`),
    ).toEqual(['1:87 path /d'])
  })

  test('are found in plain elements, of modules without the package too', () => {
    expect(
      found(
        `export const a = () => <><a className="x" href="/a">a</a><area href={'/b'} /><form action="/c"><button formAction="/d" /></form></>`,
      ),
    ).toEqual(['1:48 path /a', '1:70 path /b', '1:91 path /c', '1:115 path /d'])
    expect(
      found(`export const a = () => [<a href="/a.pdf" download>a</a>, <a href="/b" rel="noopener external">b</a>]`),
    ).toEqual([])
  })

  test('are found in redirects, navigations and href(), under other names too', () => {
    expect(
      found(
        `import { redirect as leave, permanentRedirect } from 'millrace/server'
import { href, useNavigate } from 'millrace'
export function Page(x) {
  const { navigate } = useNavigate()
  const router = useNavigate()
  navigate('/a'); router.navigate('/b'); useNavigate().navigate('/c')
  if (x) leave('/d', 303)
  permanentRedirect(x ?? '/e')
  return href('/f/[id]', { id: '1' })
}
`,
      ).map((line) => line.replace(/^\S+ /, '')),
    ).toEqual(['path /a', 'path /b', 'path /c', 'path /d', 'path /e', 'pattern /f/[id]'])
  })

  test('are not what strings and comments show, nor what other modules export, nor texts with holes', () => {
    expect(
      found(`import { Link, redirect, external, href } from 'millrace'
import { navigate } from 'elsewhere'
// <Link href="/a">
export const text = \`<Link href="/b"> redirect('/c')\`
export const more = (id) => [<Link href={\`/d/\${id}\`} />, <Link href={external('/e')} />, <b href="/f" />, navigate('/g')]
export const own = ({ redirect }) => redirect('/h')
`),
    ).toEqual([])
  })

  test('are nothing in a module that does not parse: the bundler says so', () => {
    expect(found(`import { Link } from 'millrace'; <Link href="/a"`)).toEqual([])
  })
})
