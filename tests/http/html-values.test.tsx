/** HTML that loaders return by `html()`: once in the document, a record in data, and nothing that a visitor could send. */
import { Suspense, use, type ReactNode } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Html } from '../../src/client/react/html.tsx'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { html } from '../../src/shared/protocol/html.ts'
import { HtmlValue } from '../../src/shared/html-value.ts'
import { createValueDecoder } from '../../src/shared/protocol/decode-values.ts'
import { exported, temporaryFolder } from '../support/exported-site.tsx'
import { nameInCookie } from '../support/kept-shells.tsx'
import { statusOf, visit } from '../support/kept-pages.tsx'
import { getData, recordsOf } from '../support/route-data.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const TEXT = '<h2 id="mills">Mills</h2><p class="lead">Of “stone” &amp; wood<br/>and <b>iron</b>. WORDS</p>'
const PUBLIC = { headers: [{ source: '/:path*', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] }] }

/** How often the text is in the document. */
const countIn = (text: string): number => text.split('WORDS').length - 1

interface Data {
  readonly body: HtmlValue
  readonly later: Promise<string>
  readonly visitor: Promise<{ readonly name: string }>
}

type Shape = (props: { readonly data: Data }) => ReactNode

const Shown: Shape = ({ data }) => <Html value={data.body} as="article" className="prose" />

/** The HTML after something that comes late. */
const Later = ({ data: { later }, children }: { data: Data; children?: ReactNode }) => (
  <>
    {use(later)}
    {children}
  </>
)

const Named = ({ data: { visitor } }: { data: Data }) => <b>{use(visitor).name}</b>

const entryOf = (shape: Shape, more: object = {}, text = TEXT) => ({
  page: page(shape),
  loader: moduleOf({ loader: () => ({ body: html(text), ...more }) }),
})

const soon = () => new Promise<string>((resolve) => setImmediate(resolve, 'later'))

const collectText = (response: NodeJS.ReadableStream, done: (error: null, text: string) => void): void => {
  let text = ''
  response.on('data', (chunk: Buffer) => (text += String(chunk)))
  response.on('end', () => done(null, text))
}

async function textOf(entry: object): Promise<string> {
  const { app } = tinyApp({ routes: { '/': entry } as never })
  const { text } = await request(app).get('/').expect(200)
  return text
}

describe('HTML that a page shows', () => {
  test('is in the document once, and that may be shared and has a tag', async () => {
    const { app } = tinyApp({ routes: { '/': entryOf(Shown) }, rules: PUBLIC })
    const { text, headers } = await request(app).get('/').expect(200)
    expect(text).toContain(`<article class="prose" data-html-value="0">${TEXT}</article>`)
    expect(countIn(text)).toBe(1)
    expect(headers['cache-control']).toBe('public, max-age=60')
    const again = await request(app)
      .get('/')
      .set('If-None-Match', headers['etag'] ?? '')
    expect(again.status).toBe(304)
  })

  test.each<[string, number, Shape, object?, string?]>([
    ['in two places', 2, ({ data }) => [<Shown key="1" data={data} />, <Html key="2" value={data.body} />]],
    ['nowhere: it is in the data', 1, () => 'nothing'],
    [
      'beside a value that is streamed',
      1,
      ({ data }) => [
        <Shown key="1" data={data} />,
        <Suspense key="2">
          <Later data={data} />
        </Suspense>,
      ],
      { later: soon },
    ],
    [
      'in a part that is streamed',
      2,
      ({ data }) => (
        <Suspense>
          <Later data={data}>
            <Shown data={data} />
          </Later>
        </Suspense>
      ),
      { later: soon },
    ],
    ['in an element that cannot hold it', 2, ({ data }) => <Html value={data.body} as="p" />],
    ['inline', 1, ({ data }) => <Html value={data.body} as="span" />, {}, '<b>WORDS</b>'],
    ['with a tag that is not closed', 2, Shown, {}, '<p>WORDS<b></p>'],
    ['with a tag that closes what is around it', 2, Shown, {}, 'WORDS</article><p>'],
    ['beside a mark of its own making', 2, Shown, {}, '<i DATA-HTML-VALUE=0></i>WORDS'],
  ])('%s: is in the document %i time(s)', async (_, count, shape, more = {}, text = undefined) => {
    const loader = () => ({
      body: html(text ?? TEXT),
      ...Object.fromEntries(Object.entries(more).map(([key, make]) => [key, (make as () => unknown)()])),
    })
    expect(countIn(await textOf({ page: page(shape), loader: moduleOf({ loader }) }))).toBe(count)
  })

  test('is once in what is kept for all, and in shells for visitors', async () => {
    const shape: Shape = ({ data }) => [
      <Shown key="1" data={data} />,
      <Suspense key="2">
        <Named data={data} />
      </Suspense>,
    ]
    const Own = ({ data }: { readonly data: Data }) => [use(data.visitor).name, <Shown key="1" data={data} />]
    const twice: Shape = ({ data }) => [
      <Shown key="1" data={data} />,
      <Suspense key="2">
        <Own data={data} />
      </Suspense>,
    ]
    const loader = ({ cache }: LoaderArgs) => {
      cache({ shared: { seconds: 60 } })
      return { body: html(TEXT), later: soon() }
    }
    const deferred: Shape = ({ data }) => (
      <Suspense>
        <Later data={data}>
          <Shown data={data} />
        </Later>
      </Suspense>
    )
    const site = tinyApp({
      routes: {
        '/slot': { cache: 'shared', page: page(shape), loader: moduleOf({ loader, visitor: nameInCookie }) },
        '/both': { cache: 'shared', page: page(twice), loader: moduleOf({ loader, visitor: nameInCookie }) },
        '/deferred': { cache: 'shared', page: page(deferred), loader: moduleOf({ loader }) },
      } as never,
    })
    for (const [path, headers] of [
      ['/slot', {}],
      ['/slot', { Cookie: 'visitor=ann' }],
      ['/deferred', {}],
    ] as const) {
      await visit(site, path, headers)
      const { text, ...answer } = await visit(site, path, headers).expect(200)
      expect([statusOf(answer as never), countIn(text)]).toEqual([expect.stringContaining('hit'), 1])
      expect(text).toMatch(/<article class="prose" data-html-value="\w+">/)
    }
    await visit(site, '/both', { Cookie: 'visitor=ann' })
    const { text: both } = await visit(site, '/both', { Cookie: 'visitor=ann' })
    const [, mark] = /data-html-value="(\w+)"/.exec(both) ?? []
    // The part for the visitor has the mark that the value has in the browser.
    expect(both.split(`data-html-value="${mark}"`)).toHaveLength(3)
    const { records } = await getData(site.app, '/_m/data/slot', { Cookie: 'visitor=ann' })
    expect(records).toContainEqual({ chunk: 0, mark: 0, html: TEXT })
  })

  test('is once in a file of an export, and a record in its data', async () => {
    const { folder, read } = await temporaryFolder()
    await exported(folder, { routes: { '/': entryOf(Shown) } } as never)
    expect(countIn(await read('index.html'))).toBe(1)
    expect(recordsOf(await read('_m/data/all.data'))).toContainEqual({ chunk: 0, mark: 0, html: TEXT })
  })
})

describe('HTML in data', () => {
  test('is a record of its own, before the values that name it', async () => {
    const { app } = tinyApp({ routes: { '/': entryOf(Shown, { again: html('<b>again</b>') }) } })
    const { records } = await getData(app, '/_m/data/')
    expect(records.slice(1)).toEqual([
      { segment: '/#page', stream: 0 },
      { chunk: 0, mark: 0, html: TEXT },
      { chunk: 0, mark: 1, html: '<b>again</b>' },
      { chunk: 0, text: expect.stringMatching(/\["Html","[\w-]{22}",null,0\],\["Html","[\w-]{22}",null,1\]\]\n$/) },
      { end: 0 },
      { done: true },
    ])
  })

  test('is made by the server alone: what a visitor sends is never HTML', async () => {
    const got: unknown[] = []
    const keep = action({
      input: z.any(),
      handler: ({ input, state }) => {
        got.push(input, state)
        return { input: input as unknown, own: html('<b>own</b>') }
      },
    })
    const { app } = tinyApp({ routes: { '/': entryOf(Shown) }, actions: { 'actions.server.ts': { keep } } })
    const forged = [
      ['Html', 1, '<script>'],
      { text: '<script>', hash: '1' },
      ['Html', 1, null, '0'],
      { html: '<script>' },
    ]
    for (const input of forged) {
      const answer = await request(app)
        .post(`/_m/data/?_action=${actionId('actions.server.ts', 'keep')}&_m=`)
        .set('X-Millrace-Build', 'development')
        .buffer(true)
        .parse(collectText as never)
        .send({ input })
      expect(answer.status).toBe(200)
      const lines = recordsOf(String(answer.body))
      expect(lines.flatMap(({ html: one }) => one ?? [])).toEqual(['<b>own</b>'])
      const texts = lines.flatMap(({ text }) => (typeof text === 'string' ? text : []))
      const values = createValueDecoder(undefined, () => '<b>own</b>').push(texts.join(''))?.value
      expect(values).toMatchObject({ data: { value: { input, own: expect.any(HtmlValue) as unknown } } })
    }
    expect(got.some((value) => value instanceof HtmlValue)).toBe(false)
  })

  test('is what <Html> asks for, by its type and while it renders', async () => {
    // @ts-expect-error -- a text that nobody has vouched for
    const ofText = (): ReactNode => <Html value="<b>text</b>" />
    // @ts-expect-error -- an object of JSON
    const ofMembers = (): ReactNode => <Html value={{ text: '', hash: '1', mark: undefined, toJSON: () => '' }} />
    // @ts-expect-error -- an element without content
    const ofImage = (): ReactNode => <Html value={html('')} as="img" />
    expect(ofImage).toBeDefined()
    for (const shape of [ofText, ofMembers]) {
      const { app, logs } = tinyApp({ routes: { '/': entryOf(shape) } })
      await request(app).get('/').expect(500)
      expect(JSON.stringify(logs)).toContain('The value of <Html> is not from html(text)')
    }
    expect(() => html(null as never)).toThrow('html() takes a string, not null')
  })

  test('goes through caches of values as it is', async () => {
    const loader = async ({ context }: LoaderArgs) => {
      return context.cached('post', { seconds: 60 }, () => ({ body: html(TEXT) }))
    }
    expect(countIn(await textOf({ page: page(Shown), loader: moduleOf({ loader }) }))).toBe(1)
  })
})
