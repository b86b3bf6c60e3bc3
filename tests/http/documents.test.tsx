import { createHash } from 'node:crypto'
import { Suspense, use } from 'react'
import zlib from 'node:zlib'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { notFound } from '../../src/shared/control-flow.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { portOf } from '../support/listening.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { getRequest, requestRaw } from '../support/raw-http.ts'

const hello = page(() => <h1>Hello</h1>, { title: 'Hello' })
const long = page(() => <p>{'word '.repeat(2_000)}</p>)

describe('a document with nothing to wait for', () => {
  test('is sent whole, with its length, and never stored by others', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const { headers, text } = await request(app).get('/').expect(200)
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
    expect(headers['transfer-encoding']).toBeUndefined()
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('private, no-cache')
    expect(headers['server-timing']).toMatch(/^shell;dur=\d+\.\d$/)
    expect(headers['x-powered-by']).toBeUndefined()
    expect(text).toMatch(/^<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"\/>/)
    expect(text).toContain('<title>Hello</title>')
  })

  test('has an ETag that leaves the nonce out; the answer to it is 304 without a policy', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const first = await request(app).get('/')
    const second = await request(app).get('/')
    expect(nonceOf(first)).not.toBe(nonceOf(second))
    expect(first.headers['etag']).toMatch(/^W\/"[\w-]{8,}"$/)
    expect(second.headers['etag']).toBe(first.headers['etag'])

    const known = await request(app).get('/').set('If-None-Match', `"other", ${first.headers['etag']}`).expect(304)
    expect(known.headers['content-security-policy']).toBeUndefined()
    expect(known.headers['etag']).toBe(first.headers['etag'])
    expect(known.text).toBe('')
    // What it has cost is told all the same.
    expect(known.headers['server-timing']).toMatch(/^shell;dur=[\d.]+$/)
  })

  test.for([
    ['in one piece', 1],
    ['in several', 5_000],
  ] as const)('comes with every letter that is not English, %s', async ([, times]) => {
    const text = 'Mühle, мельница, 水車 '.repeat(times)
    const { app } = tinyApp({ routes: { '/': { page: page(() => <p>{text}</p>, { title: 'Hello' }) } } })
    const answer = await request(app).get('/').set('Accept-Encoding', 'identity').expect(200)
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)))
    expect(answer.text).toContain(`<p>${text}</p>`)
  })

  test('has another ETag when its data are different', async () => {
    const { app } = tinyApp({
      routes: {
        '/[id]': { page: hello, loader: moduleOf({ loader: ({ params }: LoaderArgs<'/[id]'>) => params.id }) },
      },
    })
    const [one, two] = await Promise.all([request(app).get('/1'), request(app).get('/2')])
    expect(one.headers['etag']).not.toBe(two.headers['etag'])
  })

  test('names itself and its pictures by absolute URLs to who shows links elsewhere', async () => {
    const openGraph = {
      title: '/dev/null, explained',
      url: '/a',
      image: '/a.png',
      'image:secure_url': '/a.png',
      'image:alt': '/dev/null from above',
      video: 'https://v.example/a',
    }
    const { app } = tinyApp({
      routes: { '/a': { page: page(() => <h1>A</h1>, { canonical: '/a', openGraph }) } },
      environment: { ORIGIN: 'https://www.example.com' },
    })
    const { text } = await request(app).get('/a').set('Host', 'www.example.com').expect(200)
    const properties = [...text.matchAll(/<meta property="og:([^"]*)" content="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ])
    expect(Object.fromEntries(properties)).toEqual({
      ...openGraph,
      url: 'https://www.example.com/a',
      image: 'https://www.example.com/a.png',
      'image:secure_url': 'https://www.example.com/a.png',
    })
    expect(text).toContain('<link rel="canonical" href="https://www.example.com/a"/>')
  })

  test('carries JSON-LD that cannot leave its element', async () => {
    const thing = { '@type': 'Thing', name: '</script><script>alert(1)</script>\u2028' }
    const { app } = tinyApp({ routes: { '/': { page: page(() => <p>x</p>, { jsonLd: [thing] }) } } })
    const { text } = await request(app).get('/')
    const element = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text)?.[1] ?? ''
    expect(element).not.toMatch(/[<>\u2028]/)
    expect(JSON.parse(element)).toEqual(thing)
  })

  test.for<readonly [what: string, jsonLd: unknown, written: readonly unknown[]]>([
    ['one object', { '@type': 'Thing' }, [{ '@type': 'Thing' }]],
    ['a list in a list', [[{ a: 1 }], { b: 2 }], [[{ a: 1 }], { b: 2 }]],
    ['a text', '</script><i>', ['</script><i>']],
    ['a number', 0, [0]],
    ['null', null, []],
    ['nothing in a list', [null, undefined, { a: 1 }], [{ a: 1 }]],
    ['a function', () => 'x', []],
    ['what JSON leaves out', [{ toJSON: () => undefined }], []],
  ])('carries JSON-LD that is not a list of objects: %s', async ([, jsonLd, written]) => {
    const metadata = { jsonLd: jsonLd as readonly object[] }
    const { app } = tinyApp({ routes: { '/': { page: page(() => <p>still here</p>, metadata) } } })
    const { text } = await request(app).get('/').expect(200)
    expect(text).toContain('still here')
    const elements = [...text.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)]
    expect(elements.map(([, json = '']) => JSON.parse(json) as unknown)).toEqual(written)
  })

  test('is the fallback if its JSON-LD cannot be written, also where the page streams', async () => {
    const bad = { jsonLd: [{ price: 1n }] }
    const late = new Promise<string>((resolve) => setTimeout(resolve, 60_000, 'late').unref())
    const Late = () => use(late)
    const Streaming = () => <Suspense fallback="waiting">{<Late />}</Suspense>
    const { app } = tinyApp({
      routes: {
        '/': fallbacks('root'),
        '/whole': { page: page(() => <p>x</p>, bad) },
        '/streamed': { page: page(Streaming, bad) },
      },
    })
    for (const path of ['/whole', '/streamed']) {
      expect((await request(app).get(path).expect(500)).text).toContain('root error')
    }
  })

  test('tells the browser nothing of the data of a page that refused while it rendered', async () => {
    const refusing = page((): never => notFound())
    const loader = moduleOf({ loader: () => 'secret-canary' })
    const { app } = tinyApp({ routes: { '/': fallbacks('root'), '/a': { page: refusing, loader } } })
    const { text } = await request(app).get('/a').expect(404)
    expect(text).toContain('root not found')
    expect(text).not.toContain('secret-canary')
  })

  test('answers HEAD as GET, without the body', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const [get, head] = await Promise.all([request(app).get('/'), request(app).head('/')])
    for (const name of ['content-length', 'etag', 'content-type', 'cache-control']) {
      expect(head.headers[name]).toBe(get.headers[name])
    }
    expect(head.text).toBeUndefined()
  })

  test('is the same HTML by the streaming renderer', async () => {
    const Late = () => <b>{use(soon)}</b>
    const soon = Promise.resolve('x')
    const routes = { '/': { page: page(() => <Late />) } }
    const { app } = tinyApp({ routes })
    const streamed = await request(app).get('/')
    const plain = await request(tinyApp({ routes: { '/': { page: page(() => <b>x</b>) } } }).app).get('/')
    expect(streamed.headers['transfer-encoding']).toBe('chunked')
    expect(bodyOf(streamed.text)).toBe(bodyOf(plain.text))
  })
})

describe('compression', () => {
  test.for([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['zstd', 'zstd'],
    ['gzip, br, zstd', 'zstd'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['zstd;q=0, *', 'br'],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['identity, gzip;q=0.5', undefined],
    [`gzip,${'x'.repeat(5_000)}`, undefined],
  ] as const)('%s gives %s', async ([accept, expected]) => {
    const { app } = tinyApp({ routes: { '/': { page: long } } })
    const port = await portOf(app)
    const answer = await requestRaw(port, getRequest('/', { 'Accept-Encoding': accept }))
    expect(answer.header('content-encoding')).toBe(expected)
    expect(answer.header('vary')).toBe('Accept-Encoding')
    expect(answer.header('content-length')).toBe(String(answer.body.length))
    expect(decompress(answer.body, expected)).toContain('word word')
  })

  test('leaves small answers alone', async () => {
    const { app } = tinyApp({ routes: { '/': { page: hello } } })
    const answer = await request(app).get('/').set('Accept-Encoding', 'gzip')
    expect(answer.headers['content-encoding']).toBeUndefined()
  })
})

function nonceOf(answer: { headers: Record<string, string> }): string {
  return /'nonce-([^']+)'/.exec(answer.headers['content-security-policy'] ?? '')?.[1] ?? ''
}

function bodyOf(html: string): string {
  return createHash('sha256')
    .update(/<body>(.*?)<script/s.exec(html)?.[1] ?? html)
    .digest('hex')
}

function decompress(body: Buffer, encoding: string | undefined): string {
  if (encoding === 'gzip') return zlib.gunzipSync(body).toString()
  if (encoding === 'br') return zlib.brotliDecompressSync(body).toString()
  if (encoding === 'zstd') return zlib.zstdDecompressSync(body).toString()
  return body.toString()
}
