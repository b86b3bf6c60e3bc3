/** What authors are promised of `sendFile`: ranges, conditions and names as RFC 9110 and 6266 have them, and no other file. */
import { execFileSync } from 'node:child_process'
import { mkdir, readlink, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { sendFile, type SendFileOptions } from '../../src/server/api/send-file.ts'
import { unauthorized } from '../../src/shared/control-flow.ts'
import type { RuleSet } from '../../src/shared/rules/rule-types.ts'
import { portOf } from '../support/listening.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'
import { makeTempDir } from '../support/temp-dir.ts'

const TEXT = 'abcdefghijklmnopqrstuvwxyz'

/** A thousand ranges that touch each other. */
const EVERY_BYTE = `bytes=${Array.from({ length: 1_000 }, (_, at) => `${at}-${at}`).join(',')}`

interface FileApp {
  readonly options?: Partial<SendFileOptions>
  readonly rules?: RuleSet
  readonly headers?: Readonly<Record<string, string>>
}

/** A folder of uploads, with something secret beside it. */
async function fileApp({ options = {}, headers = {}, rules = {} }: FileApp = {}) {
  const folder = await makeTempDir()
  onTestFinished(() => folder.remove())
  const root = join(folder.path, 'uploads')
  await mkdir(join(root, 'sub'), { recursive: true })
  await Promise.all([
    writeFile(join(root, 'letters.txt'), TEXT),
    writeFile(join(root, 'ä "b".txt'), TEXT),
    writeFile(join(root, 'page.html'), '<script>alert(1)</script>'),
    writeFile(join(root, 'drawing.svg'), '<svg/>'),
    writeFile(join(root, '.hidden'), 'secret'),
    writeFile(join(folder.path, 'secret.txt'), 'secret'),
    mkdir(join(folder.path, 'uploads-of-others')),
  ])
  await writeFile(join(folder.path, 'uploads-of-others', 'secret.txt'), 'secret')
  await symlink(join(folder.path, 'secret.txt'), join(root, 'link.txt'))
  const answer = (path: string | readonly string[]) => {
    const response = sendFile(path, { root, ...options })
    for (const [header, value] of Object.entries(headers)) response.headers.set(header, value)
    return response
  }
  const { app, logs } = tinyApp({
    rules,
    routes: {
      '/files/[name]': { handler: moduleOf({ GET: ({ params }: LoaderArgs<'/files/[name]'>) => answer(params.name) }) },
      '/tree/[...path]': {
        handler: moduleOf({ GET: ({ params }: LoaderArgs<'/tree/[...path]'>) => answer(params.path) }),
      },
      '/tree/sub': {
        guard: moduleOf({ guard: () => unauthorized() }),
      },
      '/tree/sub/[...path]': {
        handler: moduleOf({ GET: ({ params }: LoaderArgs<'/tree/sub/[...path]'>) => answer(['sub', ...params.path]) }),
      },
    } as never,
  })
  return { app, logs, root }
}

test('a file is sent with its type, length and validators, and HEAD has the same headers', async () => {
  const { app } = await fileApp()
  const got = await request(app).get('/files/letters.txt').expect(200, TEXT)
  expect(got.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '26',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    etag: expect.stringMatching(/^"[\w-]+"$/),
    'last-modified': expect.stringContaining('GMT'),
  })
  expect(got.headers['content-disposition']).toBeUndefined()
  const head = await request(app).head('/files/letters.txt').expect(200)
  const { date: _date, ...headers } = head.headers
  expect(got.headers).toMatchObject(headers)
})

describe('a range', () => {
  test.for([
    ['bytes=0-4', 206, 'abcde', 'bytes 0-4/26'],
    ['bytes=-3', 206, 'xyz', 'bytes 23-25/26'],
    ['bytes=20-', 206, 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=0-1099511627776', 206, TEXT, 'bytes 0-25/26'],
    ['bytes=1099511627776-', 416, undefined, 'bytes */26'],
    ['bytes=26-30', 416, undefined, 'bytes */26'],
    ['bytes=0-1,4-5', 200, TEXT, undefined],
    [EVERY_BYTE, 206, TEXT, 'bytes 0-25/26'],
    ['lines=0-4', 200, TEXT, undefined],
    ['bytes=nonsense', 200, TEXT, undefined],
  ] as const)('%s is answered by %i', async ([range, status, text, contentRange]) => {
    const { app } = await fileApp()
    const answer = await request(app).get('/files/letters.txt').set('Range', range).expect(status)
    expect(answer.headers['content-range']).toBe(contentRange)
    if (text !== undefined) expect(answer.text).toBe(text)
    else expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('is of no interest to HEAD', async () => {
    const { app } = await fileApp()
    const answer = await request(app).head('/files/letters.txt').set('Range', 'bytes=0-4').expect(200)
    expect([answer.headers['content-length'], answer.headers['content-range']]).toEqual(['26', undefined])
  })

  test('counts only for the file that the client has begun with', async () => {
    const { app, root } = await fileApp()
    const ask = (validator: string) =>
      request(app).get('/files/letters.txt').set({ Range: 'bytes=0-4', 'If-Range': validator })
    const { etag, 'last-modified': modified } = (await request(app).get('/files/letters.txt')).headers
    await ask(etag as string).expect(206)
    await ask(modified as string).expect(206)
    await ask('"another"').expect(200, TEXT)
    await writeFile(join(root, 'letters.txt'), TEXT.toUpperCase())
    await utimes(join(root, 'letters.txt'), 2_000_000_000, 2_000_000_000)
    await ask(etag as string).expect(200, TEXT.toUpperCase())
    await ask(modified as string).expect(200)
  })
})

test('a client that has the file gets 304, and one that wants to continue another one 412', async () => {
  const { app } = await fileApp({ headers: { 'Cache-Control': 'private, max-age=60' } })
  const { etag, 'last-modified': modified } = (await request(app).get('/files/letters.txt')).headers
  const answer = await request(app)
    .get('/files/letters.txt')
    .set('If-None-Match', etag as string)
    .expect(304)
  expect(answer.headers['cache-control']).toBe('private, max-age=60')
  await request(app)
    .get('/files/letters.txt')
    .set('If-Modified-Since', modified as string)
    .expect(304)
  await request(app).get('/files/letters.txt').set('If-None-Match', '"other"').expect(200)
  const refused = await request(app).get('/files/letters.txt').set('If-Match', '"other"').expect(412)
  expect(refused.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' })
})

describe('what is not a file of the folder is not found', () => {
  test.for([
    'missing.txt',
    'sub',
    '.hidden',
    'letters.txt%2Fx',
    'letters.txt%00',
    '..%2Fsecret.txt',
    'sub%2F..%2F..%2Fsecret.txt',
    '..%2Fuploads-of-others%2Fsecret.txt',
    '%2Fetc%2Fpasswd',
    '..%5Csecret.txt',
    'link.txt',
    '%ED%A0%80',
    'x'.repeat(5_000),
  ])('%.40s', async (name) => {
    const { app } = await fileApp()
    const { status, text } = await request(app).get(`/files/${name}`).set('Accept', 'application/json')
    expect(status).toBeOneOf([400, 404])
    expect(text).not.toMatch(/secret|root:/)
    expect(text).not.toContain('/uploads')
  })
})

test('a list names folders, and a slash in a name is none: it would lead around the guard of a folder', async () => {
  const { app, root } = await fileApp()
  await mkdir(join(root, 'open', 'deep'), { recursive: true })
  for (const folder of ['sub', 'open', 'open/deep']) await writeFile(join(root, folder, 'one.txt'), TEXT)
  await request(app).get('/tree/letters.txt').expect(200, TEXT)
  await request(app).get('/tree/open/deep/one.txt').expect(200, TEXT)
  await request(app).get('/tree/sub/one.txt').expect(401)
  for (const path of ['sub%2Fone.txt', 'sub%2fone.txt', '%2Fsub/one.txt', 'sub%5Cone.txt', 'open/..%2Fsub/one.txt']) {
    await request(app).get(`/tree/${path}`).expect(404)
  }
  await request(app).get('/files/sub%2Fone.txt').expect(404)
})

// Windows has no mkfifo.
test.skipIf(process.platform === 'win32')('a pipe is not found: its reader would wait for a writer', async () => {
  const { app, root } = await fileApp()
  execFileSync('mkfifo', [join(root, 'pipe.txt')])
  await request(app).get('/files/pipe.txt').expect(404)
})

describe('a download', () => {
  test('offers a name of thousands of characters by its start and its ending, in a header that proxies take', async () => {
    const { app } = await fileApp({ options: { download: `${'\u{1f600}'.repeat(2_000)}.tar.gz` } })
    const disposition = String(
      (await request(app).get('/files/letters.txt').expect(200)).headers['content-disposition'],
    )
    expect(disposition.length).toBeLessThan(1_800)
    expect(disposition).toMatch(/^attachment; filename="\?+\.gz"; filename\*=UTF-8''(%F0%9F%98%80)+(%EF%BF%BD)?\.gz$/)
  })

  test.for([
    [true, 'letters.txt', 'attachment; filename=letters.txt'],
    [true, '%C3%A4%20%22b%22.txt', `attachment; filename="? \\"b\\".txt"; filename*=UTF-8''%C3%A4%20%22b%22.txt`],
    ['Rechnung für 10 €.pdf', 'letters.txt', `filename*=UTF-8''Rechnung%20f%C3%BCr%2010%20%E2%82%AC.pdf`],
    ['../../etc/passwd', 'letters.txt', 'attachment; filename=passwd'],
    ['a\r\nSet-Cookie: x=1', 'letters.txt', 'attachment'],
    ['half \uD83D.txt', 'letters.txt', `filename*=UTF-8''half%20%EF%BF%BD.txt`],
  ] as const)('offered as %j', async ([download, name, expected]) => {
    const { app } = await fileApp({ options: { download } })
    const { headers } = await request(app).get(`/files/${name}`).expect(200)
    expect(headers['content-disposition']).toContain(expected)
    expect(headers['content-type']).toContain('text/plain')
    expect(headers['set-cookie']).toBeUndefined()
  })
})

/** Whatever a stored `type` may say that makes some browser run the file. */
const RUNNING = [
  'text/html',
  'TEXT/HTML; charset=utf-8',
  'text/xsl',
  'application/xhtml+xml',
  'image/svg+xml',
  'audio/x+xml',
  'application/pdf+xml',
  'application/x-shockwave-flash',
  'message/rfc822',
  'application/x-mimearchive',
  'text/x-component',
  'text/vtt+html',
] as const

/** Texts that are no single media type. Browsers take the last of two. */
const UNCLEAR = [
  'image/png;a,text/html',
  'image/png,text/html',
  'image/png ,text/html',
  'image/png;a="b,text/html',
  'image/png;a="\\",text/html;"',
  'image/png; x="\\"; y=", text/html; z="',
  'image/png; x="a\\b"',
  'image/png;a;,;text/html',
  'image/png text/html',
  'image/png/html',
  'multipart/x-mixed-replace;boundary=x',
  'multipart/related; boundary=x',
] as const

/** Texts that no header can have, or that browsers read in another way. */
const UNSENDABLE = [
  'image/png\u{2028}text/html',
  'image/png\r\nX-Made-Up: 1',
  'image/png\0',
  'image/png;a="\u{20ac}"',
  '\u{ff54}ext/html',
  'image/png\u{a0}',
  '\u{a0}text/html',
  `image/png; a="${'x'.repeat(8_000)}"`,
] as const

const SHOWN = [
  'image/png',
  'IMAGE/JPEG',
  'video/mp4; codecs="avc1, mp4a"',
  'application/pdf',
  'text/plain; charset=utf-8',
] as const

describe('a script of those who uploaded the file', () => {
  test.for([
    ['page.html', {}, /sandbox/],
    ['drawing.svg', {}, /sandbox/],
    ['letters.txt', {}, undefined],
    ['page.html', { headers: { 'Content-Security-Policy': `default-src 'self'` } }, /^default-src 'self'$/],
    ...RUNNING.map((type) => ['letters.txt', { options: { type } }, /sandbox/] as const),
    ...RUNNING.map((type) => ['letters.txt', { headers: { 'Content-Type': type } }, /sandbox/] as const),
    ...SHOWN.map((type) => ['letters.txt', { options: { type } }, undefined] as const),
  ] as const)('does not run: %s with %j', async ([name, options, policy]) => {
    const { app } = await fileApp(options)
    const { headers } = await request(app).get(`/files/${name}`).expect(200)
    const given = headers['content-security-policy']
    if (policy === undefined) expect(given).toBeUndefined()
    else expect(given).toMatch(policy)
    expect(headers['content-disposition']).toBeUndefined()
  })

  test.for([
    ["frame-ancestors 'self'", {}, /^frame-ancestors 'self', default-src 'none'; .*sandbox$/],
    ["script-src 'unsafe-inline'", {}, /^script-src 'unsafe-inline', default-src 'none'; .*sandbox$/],
    ["frame-ancestors 'self'", { 'Content-Security-Policy': 'sandbox' }, /^frame-ancestors 'self', sandbox$/],
  ] as const)('does not run, whatever a rule says of pages: %s with %j', async ([value, headers, policy]) => {
    const rules = { headers: [{ source: '/:path*', headers: [{ key: 'Content-Security-Policy', value }] }] }
    const { app } = await fileApp({ rules, headers })
    for (const name of ['page.html', 'drawing.svg']) {
      expect((await request(app).get(`/files/${name}`)).headers['content-security-policy']).toMatch(policy)
    }
  })

  test.for([
    ...[...UNCLEAR, ...UNSENDABLE].map((type) => ({ options: { type } })),
    ...UNCLEAR.map((type) => ({ options: { type, download: 'a.png' } })),
    ...[...UNCLEAR, 'image', ';'].map((type) => ({ headers: { 'Content-Type': type } })),
    { options: { type: 'image/png,text/html' }, headers: { 'Content-Security-Policy': `script-src 'unsafe-inline'` } },
  ])('does not run where it cannot be told what it is: %j', async (options) => {
    const { app } = await fileApp(options)
    const { headers } = await request(app).get('/files/letters.txt').expect(200)
    expect(headers['content-type']).toBe('application/octet-stream')
    expect(headers['content-disposition']).toMatch(/^attachment; filename=/)
    expect(headers['x-content-type-options']).toBe('nosniff')
  })
})

test.for([
  'text/javascript',
  'TEXT/JavaScript; charset=utf-8',
  'application/javascript',
  'application/x-javascript',
  'text/ecmascript',
  'text/x-ecmascript',
  'text/javascript1.5',
  'text/jscript',
  'text/livescript',
])('an uploaded script of type %s is a text, so that no page can name it as its own', async (type) => {
  const { headers } = await request((await fileApp({ options: { type } })).app)
    .get('/files/letters.txt')
    .expect(200)
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(headers['x-content-type-options']).toBe('nosniff')
  const own = await fileApp({ headers: { 'Content-Type': type } })
  expect((await request(own.app).get('/files/letters.txt')).headers['content-type']).toContain(type.split(';')[0])
})

test('nor does a blob of two types that a handler answers with', async () => {
  const answers = (type: string) => moduleOf({ GET: () => new Response(new Blob(['<script>'], { type })) }) as never
  const { app } = tinyApp({
    routes: {
      '/two': { handler: answers('image/png;a,text/html') },
      '/quoted': { handler: answers('image/png; x="\\"; y=", text/html; z="') },
      '/one': { handler: answers('text/x-mill; names="a, b"') },
    } as never,
  })
  const types = await Promise.all(['/two', '/quoted', '/one'].map(async (path) => (await request(app).get(path)).type))
  expect(types).toEqual(['application/octet-stream', 'application/octet-stream', 'text/x-mill'])
})

test('a reader that leaves halfway leaves no open file behind', async () => {
  const { app, root } = await fileApp()
  await writeFile(join(root, 'huge.bin'), Buffer.alloc(20_000_000, 'x'))
  const port = await portOf(app)
  const openFiles = async (): Promise<number> => {
    const links = (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''))
    return (await Promise.all(links)).filter((target) => target === join(root, 'huge.bin')).length
  }
  const closed = Array.from({ length: 10 }, async () => {
    const controller = new AbortController()
    const answer = await fetch(`http://127.0.0.1:${port}/files/huge.bin`, { signal: controller.signal })
    await answer.body?.getReader().read()
    return controller
  })
  const readers = await Promise.all(closed)
  if (process.platform === 'linux') expect(await openFiles()).toBe(10)
  for (const reader of readers) reader.abort()
  await expect.poll(openFiles).toBe(0)
})

test('a folder that is not absolute is the mistake of the handler', () => {
  expect(() => sendFile('a.txt', { root: 'uploads' })).toThrow('sendFile: root "uploads" is not absolute')
})
