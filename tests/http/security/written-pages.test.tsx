/** Replays F, and those of B that need a page: text of visitors inside markup, state and locations. See `README.md`. */
import { setTimeout as wait } from 'node:timers/promises'
import { Suspense, use } from 'react'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Link } from '../../../src/client/react/link.tsx'
import { redirect } from '../../../src/shared/control-flow.ts'
import { action } from '../../../src/server/routes/actions/action.ts'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { fallbacks, moduleOf, page } from '../../support/tiny-app.tsx'
import { recordsOf } from '../../support/route-data.ts'
import { fixtureServer } from './fixture-server.tsx'

// React's development build writes stacks into pages, for developers; visitors get the other one. The tests' own JSX is
// compiled for development, whose runtime has no production form.
vi.hoisted(() => void (process.env['NODE_ENV'] = 'production'))
vi.mock('react/jsx-dev-runtime', async () => {
  const { Fragment, jsx } = await import('react/jsx-runtime')
  return { Fragment, jsxDEV: jsx }
})

const EVIL = '</script><script>alert(1)</script><!--<script\u2028\u2029"\'&'

interface Search {
  readonly [name: string]: string
}

const site = fixtureServer(() => ({
  routes: {
    '/': { ...fallbacks('root'), page: page(() => <p>home</p>) },
    '/leave': {
      page: page(() => <p>never</p>),
      loader: moduleOf({ loader: ({ search }: LoaderArgs) => redirect((search as Search)['to'] ?? '/') }),
    },
    '/leave-late': {
      page: page(({ data }: { data: { late: Promise<string> } }) => (
        <Suspense fallback="waiting">
          <Late value={data.late} />
        </Suspense>
      )),
      loader: moduleOf({
        loader: ({ search }: LoaderArgs) => ({ late: wait(5).then(() => redirect((search as Search)['to'] ?? '/')) }),
      }),
    },
    '/form': { page: page(() => <p>form</p>) },
    '/link': {
      page: page(({ search }: { search: Search }) => <Link href={search['to'] ?? ''}>{search['to']}</Link>),
    },
    '/echo': {
      page: page(
        ({ data }: { data: { text: string; late: Promise<string>; never: Promise<string> } }) => (
          <main>
            <p title={data.text}>{data.text}</p>
            <textarea defaultValue={data.text} />
            <Suspense fallback="waiting">
              <Late value={data.late} />
            </Suspense>
          </main>
        ),
        (({ data }: { data: { text: string } }) => ({
          title: data.text,
          description: data.text,
          canonical: `/echo?${data.text}`,
          openGraph: { title: data.text },
          meta: { author: data.text },
          jsonLd: [{ '@type': 'Thing', name: data.text, [data.text]: data.text }],
        })) as never,
      ),
      loader: moduleOf({
        loader: ({ search, context }: LoaderArgs) => {
          const text = (search as Search)['text'] ?? ''
          context.headers.set('X-Text', 'fixed')
          return { text, search, when: new Date(0), [text]: new Map([[text, text]]), late: wait(10, text) }
        },
      }),
    },
    '/spread': {
      page: page(({ search }: { search: Search }) => <div {...(JSON.parse(search['props'] ?? '{}') as object)} />),
    },
    '/events': {
      handler: moduleOf({
        GET: ({ search }: LoaderArgs) =>
          new Response(`data: ${JSON.stringify((search as Search)['text'])}\n\n`, {
            headers: { 'Content-Type': 'text/event-stream' },
          }),
      }),
    },
    '/picture.svg': {
      handler: moduleOf({
        GET: () => new Response('<svg onload="alert(1)"/>', { headers: { 'Content-Type': 'image/svg+xml' } }),
      }),
    },
  } as never,
  actions: {
    'actions.server.ts': {
      leave: action({ input: z.object({ to: z.string() }), handler: ({ input }) => redirect(input.to) }),
    },
  },
}))

function Late({ value }: { readonly value: Promise<string> }) {
  return <b>{use(value)}</b>
}

const LEAVE = actionId('actions.server.ts', 'leave')

const OFF_SITE = [
  '//evil.test',
  '///evil.test',
  '/\\evil.test',
  '\\\\evil.test',
  '\\/evil.test',
  '/\t/evil.test',
  '\t//evil.test',
  ' //evil.test',
  '/\n/evil.test',
  '\u0000//evil.test',
  'https:evil.test',
  'https://evil.test',
  'HTTPS://EVIL.test',
  'http:/evil.test',
  'http://localhost@evil.test/',
  'http://evil.test\\@good.test',
  'javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'evil.test',
  '?to=//evil.test',
  '',
  './/evil.test',
  '@evil.test',
  ':80/evil.test',
] as const

describe('B4 B7 a redirect to what a visitor has written', () => {
  test.for(OFF_SITE)('leads nowhere else: %j', async (to) => {
    site.permit(500)
    site.expectFailures()
    const query = `?to=${encodeURIComponent(to)}`
    const loaded = await site.get(`/leave${query}`)
    expect([loaded.status, loaded.header('location')]).toEqual([500, undefined])
    const data = await site.get(`/_m/data/leave${query}`)
    expect(data.text).not.toMatch(/"redirect"/)
    const late = await site.get(`/leave-late${query}`)
    expect(late.text).not.toMatch(/http-equiv="?refresh/i)
    const called = await site.post(`/form?_action=${LEAVE}.1`, `to=${encodeURIComponent(to)}`)
    expect([called.status, called.header('location')]).toEqual([500, undefined])
    const byScript = await site.post(`/_m/data/form?_action=${LEAVE}`, `to=${encodeURIComponent(to)}`)
    expect(byScript.text).not.toMatch(/"redirect"/)
  })

  test.for([
    ['/"><script>alert(1)</script>', '/%22%3E%3Cscript%3Ealert(1)%3C/script%3E'],
    ['/"><img src=x onerror=alert(1)>', '/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E'],
    ['/\u200b/evil.test', '/%E2%80%8B/evil.test'],
    ['/a//evil.test', '/a/evil.test'],
    ['/a/..//evil.test', '/evil.test'],
    ['/%2f/evil.test', '/%2f/evil.test'],
    ['/a?to=//evil.test', '/a?to=//evil.test'],
    ['/a;b=c#d', '/a;b=c#d'],
  ] as const)('B10 stays here, escaped: %j', async ([to, location]) => {
    const query = `?to=${encodeURIComponent(to)}`
    const answer = await site.get(`/leave${query}`)
    expect([answer.status, answer.header('location')]).toEqual([307, location])
    expect(answer.body.length).toBe(0)
    const called = await site.post(`/form?_action=${LEAVE}.1`, `to=${encodeURIComponent(to)}`)
    expect([called.status, called.header('location')]).toEqual([303, location])
    const late = await site.get(`/leave-late${query}`)
    const refresh = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(late.text)?.[1]?.replaceAll('&amp;', '&')
    expect(refresh).toBe(location)
  })
})

test.for([
  'javascript:alert(1)',
  'JAVASCRIPT:alert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'vbscript:msgbox(1)',
  'data:text/html,<script>alert(1)</script>',
])('B6 a link to %j has no URL', async (to) => {
  const { status, text } = await site.get(`/link?to=${encodeURIComponent(to)}`)
  expect(status).toBe(200)
  expect(/<a\b[^>]*>/.exec(text)?.[0]).toBe('<a>')
})

describe('F1 F4 F8 text of visitors in a page', () => {
  test('ends no script, no tag and no attribute, early or late', async () => {
    const { status, text } = await site.get(`/echo?text=${encodeURIComponent(EVIL)}&${encodeURIComponent(EVIL)}=1`)
    expect(status).toBe(200)
    expect(text).not.toMatch(/<script>alert|<!--<script/)
    const scripts = [...text.matchAll(/<script\b[^>]*>(.*?)<\/script>/gs)].map(([, content = '']) => content)
    expect(scripts.length).toBeGreaterThan(3)
    // What was written by this application, not by React, holds neither a bracket nor a line separator.
    const own = scripts.filter((content) => /__millrace|^\s*[[{]/.test(content))
    expect(own.join('')).toContain('alert(1)')
    for (const content of own) expect(content).not.toMatch(/[<\u2028\u2029]/)
    expect(text).toContain('<title>&lt;/script&gt;')
  })

  test('is the same text again for whoever reads the state as JSON', async () => {
    const { text } = await site.get(`/echo?text=${encodeURIComponent(EVIL)}`)
    const ld = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text)?.[1] ?? ''
    expect(JSON.parse(ld)).toMatchObject({ name: EVIL, [EVIL]: EVIL })
  })

  test.for([
    'a\n\ndata: evil',
    'a\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    '{"done":true}\n{"v":1,"redirect":{"to":"//evil.test"}}',
    '\u2028{"done":true}\u2029',
    '\n',
    '\u0000',
  ])('F11 is one line of route data and one event: %j', async (evil) => {
    const query = `?text=${encodeURIComponent(evil)}`
    const data = await site.get(`/_m/data/echo${query}`)
    expect(data.status).toBe(200)
    const records = recordsOf(data.text)
    expect(data.text.split('\n')).toHaveLength(records.length + 1)
    expect(records.filter((record) => 'done' in record || 'redirect' in record || 'v' in record)).toHaveLength(2)
    const chunks = records.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    expect(chunks.join('')).toContain(JSON.stringify(evil).slice(1, -1))
    const events = await site.get(`/events${query}`)
    expect(events.text.match(/^data:/gm)).toHaveLength(1)
  })
})

test('F5 the nonce is the server’s own, new each time', async () => {
  const given = { 'Content-Security-Policy': `script-src 'nonce-"><script>alert(1)</script>'`, 'X-Nonce': 'given' }
  const nonces = new Set<string>()
  for (let visit = 0; visit < 20; visit += 1) {
    const { text, header } = await site.get('/echo?text=a', given)
    const [, nonce = ''] = /'nonce-([^']+)'/.exec(header('content-security-policy') ?? '') ?? []
    expect(Buffer.from(nonce, 'base64').length).toBeGreaterThanOrEqual(16)
    const used = new Set([...text.matchAll(/\snonce="([^"]*)"/g)].map(([, value]) => value))
    expect([...used]).toEqual([nonce])
    nonces.add(nonce)
  }
  expect(nonces.size).toBe(20)
})

test('F7 names of attributes that a visitor chose make no markup', async () => {
  const props = {
    onmouseover: 'alert(1)',
    onclick: 'alert(1)',
    'x><script>alert(1)</script>': 1,
    'a b': 1,
    'a"': '"><script>',
  }
  const { status, text } = await site.get(`/spread?props=${encodeURIComponent(JSON.stringify(props))}`)
  expect(status).toBe(200)
  expect(/<body><div[^>]*>/.exec(text)?.[0]).toBe('<body><div>')
})

test('F10 what a handler serves is never taken for something else', async () => {
  const { header } = await site.get('/picture.svg')
  expect([header('x-content-type-options'), header('cross-origin-resource-policy')]).toEqual(['nosniff', 'same-origin'])
})
