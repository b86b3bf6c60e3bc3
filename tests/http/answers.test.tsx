/** `docs/answers.md` lists the caching of each kind of answer. Each row is requested here, and each answer here has a row. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { Suspense, use, useActionState } from 'react'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import application from '../../src/app/app.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { createApp } from '../../src/server/app.ts'
import { keepBuild } from '../../src/server/assets/kept-builds.ts'
import { NO_ASSETS } from '../../src/server/assets/manifest.ts'
import { readConfig } from '../../src/server/config/config.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { limitConnections } from '../../src/server/process/limit-connections.ts'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import { UnavailableError } from '../../src/server/http/unavailable-error.ts'
import { forbidden, notFound, permanentRedirect, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { submitForm } from 'millrace/testing'
import { listeningOn } from '../support/listening.ts'
import { requestRaw } from '../support/raw-http.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const PROJECT = resolve(import.meta.dirname, '../..')
const PUBLIC = 'public, max-age=60'
const MODULE = 'actions.server.ts'
const FILE = 'file-1a2b.js'

const hello = page(() => <h1>Hello</h1>)
const loaderOf = (loader: (args: LoaderArgs) => unknown) => moduleOf({ loader: loader as never })
const open = ({ context }: LoaderArgs): void => context.headers.set('Cache-Control', PUBLIC)
const failing = (): never => {
  throw new Error('a failure')
}
const Late = ({ data }: { data: { value: Promise<string> } }) => <Suspense fallback="…">{use(data.value)}</Suspense>

const actions = {
  store: action({ input: z.object({ name: z.string().max(3) }), handler: () => undefined }),
  state: action({ handler: () => ({ said: 'yes' }) }),
}

function StateForm() {
  const [state, say] = useActionState(actions.state as never, null)
  return (
    <form action={say} id="state">
      {JSON.stringify(state)}
    </form>
  )
}

const routes = {
  '/': { page: hello, ...fallbacks('root') },
  '/open': { page: hello, loader: loaderOf(open) },
  '/streamed': {
    page: page(Late),
    loader: loaderOf((args) => {
      open(args)
      return { value: Promise.resolve('late') }
    }),
  },
  '/cookie': {
    page: hello,
    loader: loaderOf((args) => {
      open(args)
      args.context.headers.append('Set-Cookie', 'a=b')
    }),
  },
  '/form': { page: page(StateForm) },
  '/unstored': {
    page: hello,
    loader: loaderOf(({ context }) => context.headers.set('Cache-Control', 'no-store')),
  },
  '/missing': { page: hello, loader: loaderOf(() => notFound()) },
  '/forbidden': { page: hello, loader: loaderOf(() => forbidden()) },
  '/unauthorized': { page: hello, loader: loaderOf(() => unauthorized()) },
  '/failing': { page: hello, loader: loaderOf(failing) },
  '/unavailable': {
    page: hello,
    loader: loaderOf(() => {
      throw new UnavailableError('later')
    }),
  },
  '/searched': { page: hello, loader: moduleOf({ search: z.object({ n: z.coerce.number() }), loader: () => null }) },
  '/moved': { page: hello, loader: loaderOf(() => redirect('/')) },
  '/moved-for-good': { page: hello, loader: loaderOf(() => permanentRedirect('/')) },
  '/resource': {
    handler: moduleOf({
      GET: () => new Response('plain'),
      PUT: () => new Response('open', { headers: { 'Cache-Control': PUBLIC } }),
      POST: () => new Response('open', { headers: { 'Cache-Control': PUBLIC, 'Set-Cookie': 'a=b' } }),
      PATCH: () => new Response('gone', { status: 410, headers: { 'Cache-Control': PUBLIC } }),
      DELETE: failing,
    }),
  },
}

const site = { port: 0, handbook: 0 }
const cleanUp = new AsyncDisposableStack()

beforeAll(async () => {
  const [data, build] = [await makeTempDir('data'), await makeTempDir('assets')]
  for (const temp of [data, build]) cleanUp.defer(() => temp.remove())
  const [folder, former] = [join(build.path, 'public'), join(build.path, 'former')]
  await mkdir(folder)
  await writeFile(join(folder, 'old-3c4d.js'), 'old')
  await keepBuild(former, { buildId: 'old', from: folder, lastUsed: Date.now() })
  const present = join(build.path, 'present')
  await mkdir(present)
  await writeFile(join(present, FILE), 'file')

  const origin = cleanUp.use(
    await listeningOn(createServer((_req, res) => res.setHeader('Cache-Control', 'max-age=7').end('other'))),
  )
  const dead = await listeningOn(createServer())
  await dead[Symbol.asyncDispose]()
  const environment = { DATA_DIR: data.path, ACTION_BODY_LIMIT: '4kb' }
  const { app } = tinyApp({
    routes: routes as never,
    environment,
    actions: { [MODULE]: actions },
    assets: { manifest: NO_ASSETS, folder: present, former },
    rules: {
      headers: [{ source: '/failing', headers: [{ key: 'Cache-Control', value: PUBLIC }] }],
      redirects: [
        { source: '/ruled', destination: '/', permanent: false },
        { source: '/ruled-for-good', destination: '/', permanent: true },
      ],
      rewrites: [
        { source: '/other', destination: `http://127.0.0.1:${origin.port}/` },
        { source: '/dead', destination: `http://127.0.0.1:${dead.port}/` },
      ],
    },
  })
  const handbook = createApp({
    app: application,
    config: readConfig(environment),
    logDestination: { write: () => true },
  })
  for (const each of [app, handbook]) cleanUp.defer(() => each.dispose())
  const server = createServer(app)
  limitConnections(server)
  site.port = cleanUp.use(await listeningOn(server)).port
  site.handbook = cleanUp.use(await listeningOn(createServer(handbook))).port
})

afterAll(() => cleanUp.disposeAsync())

type Ask =
  | string
  | { readonly head: string; readonly body?: string; readonly handbook?: true }
  /** A form of a page, as a browser sends it. */
  | { readonly formOf: string; readonly id: string }

const get = (path: string, ...headers: readonly string[]): Ask => ({ head: [`GET ${path}`, ...headers].join('\n') })
const formOn = (path: string, name: string, body: string, ...headers: readonly string[]): Ask => ({
  head: [
    `POST ${path}?_action=${actionId(MODULE, name)}.1`,
    ...(headers.some((line) => line.startsWith('Content-Type'))
      ? []
      : ['Content-Type: application/x-www-form-urlencoded']),
    ...headers,
  ].join('\n'),
  body,
})
const form = (name: string, body: string, ...headers: readonly string[]) => formOn('/', name, body, ...headers)
const call = (name: string, body: string, ...headers: readonly string[]): Ask => ({
  head: [
    `POST /_m/data/?_action=${actionId(MODULE, name)}`,
    'X-Millrace-Build: development',
    'Content-Type: application/x-www-form-urlencoded',
    ...headers,
  ].join('\n'),
  body,
})
const report = (body: string): Ask => ({ head: `POST ${derivedTunnelPath('')}`, body })
const FOREIGN = 'Sec-Fetch-Site: cross-site'
/** The answer's own tag, from the answer before. */
const TAG = 'If-None-Match: <tag>'

const ROWS: Readonly<Record<string, Ask>> = {
  document: get('/'),
  'document, not modified': get('/', TAG),
  'document, HEAD': { head: 'HEAD /' },
  'document with `Cache-Control: public` of a loader or rule': get('/open'),
  'the same, not modified': get('/open', TAG),
  'the same, HEAD': { head: 'HEAD /open' },
  'the same, but streamed, or with data beyond JSON': get('/streamed'),
  'the same, but a loader sets a cookie': get('/cookie'),
  'chapter of the handbook': { head: 'GET /docs/routes', handbook: true },
  'fallback page: not found': get('/missing'),
  'fallback page: forbidden': get('/forbidden'),
  'fallback page: unauthorized': get('/unauthorized'),
  'error page': get('/failing'),
  'error page: unavailable': get('/unavailable'),
  'unknown URL': get('/nothing'),
  'invalid search params': get('/searched?n=x'),
  'path that does not decode': get('/%'),
  'URL too long': get(`/${'a'.repeat(9_000)}`),
  'invalid `Host`': get('/', 'Host: a b'),
  'unknown method': { head: 'DELETE /' },
  '`OPTIONS`': { head: 'OPTIONS /' },
  'redirect of a loader': get('/moved'),
  'permanent redirect of a loader': get('/moved-for-good'),
  'redirect of a rule': get('/ruled'),
  'permanent redirect of a rule': get('/ruled-for-good'),
  'redirect to the canonical path': get('//open'),
  'form: action done, redirect': form('store', 'name=ann'),
  'form: action returns a state': { formOf: '/form', id: 'state' },
  'form: invalid input': form('store', 'name=annabel'),
  'the same, but the page’s loader says `no-store`': formOn('/unstored', 'store', 'name=annabel'),
  'form from another site': form('store', 'name=ann', FOREIGN),
  'form: unknown action': form('none', 'name=ann'),
  'form: body too large': form('store', `name=${'a'.repeat(5_000)}`),
  'form: unknown content type': form('store', '<a/>', 'Content-Type: text/xml'),
  'route data': get('/_m/data/'),
  'route data with `Cache-Control: public` of its loaders': get('/_m/data/open'),
  'route data with a redirect': get('/_m/data/moved'),
  'route data: not found': get('/_m/data/missing'),
  'route data: error': get('/_m/data/failing'),
  'route data for another build': get('/_m/data/', 'X-Millrace-Build: another'),
  'call of an action': call('store', 'name=ann'),
  'call: invalid input': call('store', 'name=annabel'),
  'call from another site': call('store', 'name=ann', FOREIGN),
  'resource route': get('/resource'),
  'resource route with `Cache-Control: public`': { head: 'PUT /resource', body: '' },
  'the same, but it sets a cookie': { head: 'POST /resource', body: '' },
  'resource route: `public` on an error status': { head: 'PATCH /resource', body: '' },
  'resource route: error': { head: 'DELETE /resource' },
  asset: get(`/_m/assets/${FILE}`),
  'asset, not modified': get(`/_m/assets/${FILE}`, TAG),
  'asset, range': get(`/_m/assets/${FILE}`, 'Range: bytes=0-1'),
  'asset of a former build': get('/_m/assets/old-3c4d.js'),
  'missing asset': get('/_m/assets/none.js'),
  '`/_m/build.json`': get('/_m/build.json'),
  '`/healthz`': get('/healthz'),
  '`/readyz`': get('/readyz'),
  'other URL below `/_m/`': get('/_m/none'),
  'error report, accepted': report(`${JSON.stringify({ dsn: 'https://inbox@inbox.invalid/1' })}\n`),
  'error report, refused': report('none'),
  'rewrite to another origin': get('/other'),
  'rewrite to another origin that does not answer': get('/dead'),
  'malformed request': 'NONE\r\n\r\n',
}

/** Of these the runtime does not say how browsers must treat them. */
const NOT_OURS: ReadonlySet<string> = new Set(['rewrite to another origin', 'malformed request'])

interface Row {
  readonly answer: string
  readonly status: number
  /** As the table has it. */
  readonly caching: string
}

const chapter = await readFile(join(PROJECT, 'docs/answers.md'), 'utf8')
const table: readonly Row[] = [...chapter.matchAll(/^\| (.+?) \| (\d+) \| (.+?) \|$/gm)].map(
  ([, answer = '', status, caching = '']) => ({ answer, status: Number(status), caching }),
)

test('the chapter has a row for each answer, and no other', () => {
  expect(table.map(({ answer }) => answer)).toEqual(Object.keys(ROWS))
})

test.for(table)('$answer: $status, $caching', async ({ answer: name, status, caching }) => {
  const asked = ROWS[name] ?? ''
  const answer = await ask(asked)
  const header = answer.header('cache-control')
  expect([answer.status, header === undefined ? 'none' : `\`${header}\``]).toEqual([
    status,
    caching === 'from that origin' ? '`max-age=7`' : caching,
  ])
  if (NOT_OURS.has(name)) return
  expect(answer.header('x-content-type-options')).toBe('nosniff')
  expect(answer.header('referrer-policy')).toBe('strict-origin-when-cross-origin')
  expect(answer.header('cross-origin-opener-policy')).toBe('same-origin')
  expect(answer.header('cross-origin-resource-policy')).toBe('same-origin')
  expect(answer.header('permissions-policy')).toContain('camera=()')
  expect(answer.header('strict-transport-security')).toBeUndefined()
  if (/\bpublic\b/.test(header ?? '')) expect(answer.header('set-cookie')).toBeUndefined()
})

async function ask(asked: Ask, tag?: string): ReturnType<typeof requestRaw> {
  if (typeof asked === 'string') return requestRaw(site.port, asked)
  if ('formOf' in asked) {
    const { text } = await ask({ head: `GET ${asked.formOf}` })
    const { url, headers, body } = await submitForm(text, `#${asked.id}`)
    return ask({ head: `POST ${url}\nContent-Type: ${headers['Content-Type']}`, body: String(body) })
  }
  if (tag === undefined && asked.head.includes('<tag>')) {
    const before = await ask({ head: asked.head.replace(/\n.*/s, '') })
    expect(before.header('etag')).toMatch(/^(?:W\/)?"/)
    return ask(asked, before.header('etag') ?? '')
  }
  const { head, body = '', handbook } = asked
  const [line = '', ...given] = head.replace('<tag>', tag ?? '').split('\n')
  const host = given.some((header) => header.startsWith('Host:')) ? [] : ['Host: localhost']
  const length = body === '' && line.startsWith('GET') ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const text = [`${line} HTTP/1.1`, ...host, ...given, ...length, 'Connection: close', '', body].join('\r\n')
  return requestRaw(handbook === true ? site.handbook : site.port, text)
}
