/**
 * One URL is decided once, whatever asks for it: its document, its data, a form that is posted to it, a call of its page,
 * and a call that an action redirects to it.
 */
import express from 'express'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { GuardArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { notFound, redirect } from '../../src/shared/control-flow.ts'
import { openTestApp } from '../../src/testing/open-test-app.ts'
import { withServer } from '../support/listening.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { recordsOf } from '../support/route-data.ts'
import { fallbacks, moduleOf, page } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const actions = {
  /** Its input is never valid, so that a form shows the page again. */
  check: action({ input: z.object({ missing: z.string() }), handler: () => undefined }),
  save: action({ handler: () => undefined }),
  leave: action({ handler: ({ input }) => redirect((input as { to: string }).to) }),
}

const around = page(({ children }: { children: unknown }) => <main>{children as never}</main>)
const shown = page(() => <h1>page</h1>)
const OUTCOMES = {
  redirect: () => redirect('/other'),
  unsafe: () => redirect('https://else.test/'),
  missing: () => notFound(),
  failing: () => {
    throw new Error('a secret')
  },
}

/** Areas whose guard, layout or page leaves in each way: `/in-guard/missing`, `/in-layout/failing` and so on. */
const areas = Object.fromEntries(
  Object.entries(OUTCOMES).flatMap(([name, leave]) => {
    const guard = moduleOf({ guard: (_args: GuardArgs) => leave() })
    const loader = moduleOf({ loader: () => leave() })
    return [
      [`/in-guard/${name}`, { ...fallbacks('area'), layout: around, guard, page: shown }],
      [`/in-layout/${name}`, { ...fallbacks('area'), layout: around, layoutLoader: loader, page: shown }],
      [`/in-page/${name}`, { ...fallbacks('area'), layout: around, loader, page: shown }],
      [`/in-checking-page/${name}`, { loader: moduleOf({ guards: true, loader: () => leave() }), page: shown }],
    ]
  }),
)

const definition = {
  routes: {
    '/': { ...fallbacks('root'), layout: around, page: shown },
    '/other': { page: shown },
    '/item/[id]': { page: shown },
    '/search': { page: shown, loader: moduleOf({ search: z.object({ page: z.coerce.number() }), loader: () => 1 }) },
    '/feed': { handler: moduleOf({ GET: () => new Response('feed'), POST: () => new Response('fed') }) },
    ...areas,
  },
  rules: {
    redirects: [
      { source: '/moved/:id', destination: '/item/:id', permanent: true },
      { source: '/out', destination: 'https://far.test/', permanent: false },
      { source: '/many/:path*', destination: '/item/:path', permanent: false },
      { source: '/to/:host', destination: 'https://:host.test/', permanent: false },
    ],
    rewrites: [
      { source: '/alias/:id', destination: '/item/:id' },
      { source: '/feed-alias', destination: '/feed' },
      { source: '/elsewhere', destination: 'http://127.0.0.1:9/x' },
      { source: '/bad/:host', destination: 'http://:host.test/x' },
      { source: '/spread/:path*', destination: '/item/:path' },
    ],
  },
}

const parts = { actions: { [MODULE]: actions } }
const own = openTestApp(definition as never, parts)
const embedded = openTestApp(definition as never, { ...parts, isEmbedded: true } as never)
const host = express()
  .use(embedded)
  .use((_req, res) => void res.status(404).send('the host'))
afterAll(() => Promise.all([own.stop(), embedded.stop()]))

const WRITERS = ['document', 'data', 'form', 'call', 'target'] as const
type Writer = (typeof WRITERS)[number]

/**
 * The answers to a URL: to its document, its data, a form that is posted to its page and shows it again, a call of its
 * page, and a call on `/` that redirects to it. `!` marks those whose log line has the reason of the last column.
 */
const TABLE = `
/moved/7                   | 308 -> /item/7                     | 200 -> /item/7                     | 308 -> /item/7                     | 200 -> /item/7                      | 200 -> /moved/7                                              |
/moved/7?x=1               | 308 -> /item/7?x=1                 | 200 -> /item/7?x=1                 | 308 -> /item/7?x=1                 | 200 -> /item/7?x=1                  | 200 -> /moved/7?x=1                                          |
/out                       | 307 -> https://far.test/           | 200 -> https://far.test/           | 307 -> https://far.test/           | 200 -> https://far.test/            | 200 -> /out                                                  |
/many/a/b                  | 500 This redirect is broken !      | 500 document !                     | 500 This redirect is broken !      | 500 document !                      | 200 -> /many/a/b                                             | the redirect /many/:path* cannot be filled in: multi-match-needs-star
/to/a%20b                  | 400 Bad request !                  | 400 document !                     | 400 Bad request !                  | 400 document !                      | 200 -> /to/a%20b                                             | the redirect /to/:host cannot be filled in: bad-host-value
/alias/7                   | 200 page                           | 200 page                           | 422 page                           | 200 page, result                    | 200 -> /alias/7 page, result                                 |
/spread/a/b                | 500 This rewrite is broken !       | 500 document !                     | 500 This rewrite is broken !       | 500 document !                      | 200 -> /spread/a/b                                           | the rewrite /spread/:path* cannot be filled in: multi-match-needs-star
/bad/a%20b                 | 400 Bad request !                  | 400 document !                     | 400 Bad request !                  | 400 document !                      | 200 -> /bad/a%20b                                            | the rewrite /bad/:host cannot be filled in: bad-host-value
/item/%E0%A4%A             | 400 undecodable percent sequence ! | 400 undecodable percent sequence ! | 400 undecodable percent sequence ! | 400 undecodable percent sequence !  | 200 -> /item/%E0%A4%25A                                      | undecodable percent sequence
/item/%FF                  | 400 undecodable percent sequence ! | 400 undecodable percent sequence ! | 400 undecodable percent sequence ! | 400 undecodable percent sequence !  | 200 -> /item/%FF                                             | undecodable percent sequence
/x/../item/7               | 404 root not found                 | 404 no route, notFound at 0        | 422 root not found                 | 200 no route, result, notFound at 0 | 200 -> /item/7 page, result                                  |
/elsewhere                 | 502 Bad Gateway                    | 200 document                       | 502 Bad Gateway                    | 200 document                        | 200 -> /elsewhere                                            |
/feed                      | 200 feed                           | 200 document                       | 404 constant page !                | 200 document                        | 200 -> /feed                                                 | This form is no longer known here. Go back, reload the page, and send it again.
/feed-alias                | 200 feed                           | 200 document                       | 404 constant page !                | 200 document                        | 200 -> /feed-alias                                           | This form is no longer known here. Go back, reload the page, and send it again.
/item/7                    | 200 page                           | 200 page                           | 422 page                           | 200 page, result                    | 200 -> /item/7 page, result                                  |
/nowhere                   | 404 root not found                 | 404 no route, notFound at 0        | 422 root not found                 | 200 no route, result, notFound at 0 | 200 -> /nowhere                                              |
/search?page=x             | 400 constant page !                | 400 document !                     | 400 constant page !                | 400 document !                      | 400 document !                                               | search params are not valid
/search?page=1             | 200 page                           | 200 page                           | 422 page                           | 200 page, result                    | 200 -> /search?page=1 page, result                           |
/in-guard/redirect         | 307 -> /other                      | 200 -> /other                      | 303 -> /other                      | 200 -> /other                       | 200 -> /in-guard/redirect page, result, -> /other            |
/in-layout/redirect        | 307 -> /other                      | 200 -> /other                      | 303 -> /other                      | 200 -> /other                       | 200 -> /in-layout/redirect page, result, -> /other           |
/in-page/redirect          | 307 -> /other                      | 200 -> /other                      | 303 -> /other                      | 200 page, result, -> /other         | 200 -> /in-page/redirect page, result, -> /other             |
/in-checking-page/redirect | 307 -> /other                      | 200 -> /other                      | 303 -> /other                      | 200 -> /other                       | 200 -> /in-checking-page/redirect page, result, -> /other    |
/in-guard/unsafe           | 500 root error                     | 500 page, error at 0               | 500 root error                     | 500 page, error at 0                | 200 -> /in-guard/unsafe page, result, error at 0             |
/in-layout/unsafe          | 500 area error                     | 500 page, error at 1               | 500 area error                     | 500 page, error at 1                | 200 -> /in-layout/unsafe page, result, error at 1            |
/in-page/unsafe            | 500 area error                     | 500 page, error at 1               | 500 area error                     | 200 page, result, error at 1        | 200 -> /in-page/unsafe page, result, error at 1              |
/in-checking-page/unsafe   | 500 root error                     | 500 page, error at 0               | 500 root error                     | 500 page, error at 0                | 200 -> /in-checking-page/unsafe page, result, error at 0     |
/in-guard/missing          | 404 root not found                 | 404 page, notFound at 0            | 404 root not found                 | 404 page, notFound at 0             | 200 -> /in-guard/missing page, result, notFound at 0         |
/in-layout/missing         | 404 root not found                 | 404 page, notFound at 0            | 404 root not found                 | 404 page, notFound at 0             | 200 -> /in-layout/missing page, result, notFound at 0        |
/in-page/missing           | 404 area not found                 | 404 page, notFound at 1            | 422 area not found                 | 200 page, result, notFound at 1     | 200 -> /in-page/missing page, result, notFound at 1          |
/in-checking-page/missing  | 404 root not found                 | 404 page, notFound at 0            | 404 root not found                 | 404 page, notFound at 0             | 200 -> /in-checking-page/missing page, result, notFound at 0 |
/in-guard/failing          | 500 root error                     | 500 page, error at 0               | 500 root error                     | 500 page, error at 0                | 200 -> /in-guard/failing page, result, error at 0            |
/in-layout/failing         | 500 root error                     | 500 page, error at 0               | 500 root error                     | 500 page, error at 0                | 200 -> /in-layout/failing page, result, error at 0           |
/in-page/failing           | 500 area error                     | 500 page, error at 1               | 500 area error                     | 200 page, result, error at 1        | 200 -> /in-page/failing page, result, error at 1             |
/in-checking-page/failing  | 500 root error                     | 500 page, error at 0               | 500 root error                     | 500 page, error at 0                | 200 -> /in-checking-page/failing page, result, error at 0    |
/moved/7 in a host         | 308 -> /item/7                     | 200 -> /item/7                     | 308 -> /item/7                     | 200 -> /item/7                      | 200 -> /moved/7                                              |
/x/../item/7 in a host     | 404 the host                       | 200 document                       | 404 the host                       | 200 document                        | 200 -> /item/7                                               |
/elsewhere in a host       | 502 Bad Gateway                    | 200 document                       | 502 Bad Gateway                    | 200 document                        | 200 -> /elsewhere                                            |
/feed in a host            | 200 feed                           | 200 document                       | 404 constant page !                | 200 document                        | 200 -> /feed                                                 | This form is no longer known here. Go back, reload the page, and send it again.
/item/7 in a host          | 200 page                           | 200 page                           | 422 page                           | 200 page, result                    | 200 -> /item/7                                               |
/nowhere in a host         | 404 the host                       | 200 document                       | 404 the host                       | 200 document                        | 200 -> /nowhere                                              |
`

const ROWS = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([url = '', ...cells]) => ({ url, cells: cells.slice(0, WRITERS.length), reason: cells[WRITERS.length] }))

test.for(ROWS)('$url is decided once', async ({ url, cells, reason }) => {
  const [path = '', isHost] = url.split(' in a host')
  const answers: string[] = []
  for (const writer of WRITERS) answers.push(await ask(isHost === undefined ? own : embedded, requestOf(writer, path)))
  expect(answers).toEqual(cells.map((cell) => cell.replace('!', `(${reason})`)))
})

const FORM = 'application/x-www-form-urlencoded'

test.for([
  ['DELETE /item/7', '405 constant page', 'GET, HEAD, OPTIONS'],
  ['OPTIONS /item/7', '204 ', 'GET, HEAD, OPTIONS'],
  ['DELETE /_m/data/item/7', '405 Method not allowed', 'GET, HEAD, OPTIONS'],
  ['POST /_m/data/item/7', '405 Method not allowed', 'GET, HEAD, OPTIONS'],
  ['OPTIONS /_m/data/item/7', '204 ', 'GET, HEAD, OPTIONS'],
  ['POST /item/7', '405 constant page (There is nothing to send to here.)', 'GET, HEAD, OPTIONS'],
  ['PUT /feed', '405 Method not allowed', 'GET, POST, HEAD, OPTIONS'],
  ['OPTIONS /feed', '204 ', 'GET, POST, HEAD, OPTIONS'],
  ['DELETE /nowhere', '404 root not found', undefined],
] as const)('%s is answered by %s', async ([line, expected, allow]) => {
  const [method = '', path = ''] = line.split(' ')
  const bytes = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FORM}\r\nContent-Length: 0\r\n\r\n`
  expect(await ask(own, bytes, allow)).toBe(expected)
})

/** The request of each writer. */
function requestOf(writer: Writer, path: string): string {
  const action = (name: keyof typeof actions): string =>
    `${path.includes('?') ? '&' : '?'}_action=${actionId(MODULE, name)}`
  switch (writer) {
    case 'document':
      return getRequest(path)
    case 'data':
      return getRequest(`/_m/data${path}`)
    case 'form':
      return post(`${path}${action('check')}.1`, FORM, 'a=1')
    case 'call':
      return post(`/_m/data${path}${action('save')}`, 'application/json', '{}')
    case 'target':
      return post(
        `/_m/data/?_action=${actionId(MODULE, 'leave')}`,
        'application/json',
        JSON.stringify({ input: { to: path } }),
      )
  }
}

function post(path: string, type: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** An answer in a few words: its status, what it shows or where it leads, and the refusal in its log line. */
async function ask(app: typeof own, bytes: string, allow?: string): Promise<string> {
  const before = app.logs.length
  const listener = app === embedded ? host : app
  const answer = await withServer(listener, (port) => requestRaw(port, bytes))
  expect(answer.header('allow')).toBe(allow)
  const { refused } = app.logs.slice(before).find(({ status }) => status === answer.status) ?? {}
  return `${answer.status} ${contentOf(answer)}${refused === undefined ? '' : ` (${String(refused)})`}`
}

function contentOf(answer: RawResponse): string {
  const { text } = answer
  const location = answer.header('location')
  if (location !== undefined) return `-> ${location}`
  const fallback = /<p id="fallback">(.*?)</.exec(text)?.[1]
  if (fallback !== undefined) return fallback.replace(/ server \w+$/, '')
  if (text.includes('<h1>page</h1>')) return 'page'
  if (text.startsWith('<!DOCTYPE html>')) return 'constant page'
  const records = recordsOf(text)
  return records.length === 0 ? text.trim() : records.flatMap(wordsOf).join(', ')
}

function wordsOf({ redirect: leads, document, route, outcome, segment }: Record<string, unknown>): readonly string[] {
  const words: string[] = []
  if (leads !== undefined) words.push(`-> ${(leads as { to: string }).to}`)
  if (document === true) words.push('document')
  if (route !== undefined) words.push(route === null ? 'no route' : 'page')
  if (segment === '#action') words.push('result')
  if (outcome !== undefined) words.push(`${(outcome as { kind: string }).kind} at ${(outcome as { at: number }).at}`)
  return words.length === 0 ? [] : [words.join(' ')]
}
