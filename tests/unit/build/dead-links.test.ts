import { describe, expect, test } from 'vitest'
import { createLinkJudge } from '../../../scripts/build/dead-links.ts'
import { linkLiterals } from '../../../scripts/build/link-literals.ts'

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
export const more = (id) => [<Link href={\`/d/\${id}\`} />, <Link href={external('/e')} />, <a href="/f" />, navigate('/g')]
export const own = ({ redirect }) => redirect('/h')
`),
    ).toEqual([])
  })

  test('are nothing in a module that does not parse: the bundler says so', () => {
    expect(found(`import { Link } from 'millrace'; <Link href="/a"`)).toEqual([])
  })
})
