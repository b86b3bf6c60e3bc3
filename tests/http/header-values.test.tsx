/** A header's value may be a visitor's text: that one is named like a header changes nothing of the others. */
import request from 'supertest'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { sendFile } from '../../src/server/api/send-file.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { makeTempDir } from '../support/temp-dir.ts'

const NAMES = [
  'cache-control',
  'content-disposition',
  'content-security-policy',
  'content-type',
  'cross-origin-opener-policy',
  'permissions-policy',
  'referrer-policy',
  'retry-after',
  'set-cookie',
  'vary',
  'x-content-type-options',
].flatMap((name) => [name, name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())])

const POLICY = `script-src 'unsafe-inline'`

async function valueApp() {
  const folder = await makeTempDir()
  onTestFinished(() => folder.remove())
  const root = join(folder.path, 'uploads')
  await mkdir(root)
  await writeFile(join(root, 'page.html'), '<script>alert(1)</script>')
  const named = ({ params: { name }, context }: LoaderArgs): void => {
    context.headers.set('Referrer-Policy', 'no-referrer')
    context.headers.set('X-Uploaded-By', name as string)
  }
  const GET = (args: LoaderArgs): Response => {
    const answer = args.search['file'] === undefined ? new Response('ok') : sendFile('page.html', { root })
    if (args.search['of'] === 'context') named(args)
    else answer.headers.set('X-Uploaded-By', args.params['name'] as string)
    return answer
  }
  const onlyPages = ({ context }: LoaderArgs): void => context.headers.set('Content-Security-Policy', POLICY)
  const { app } = tinyApp({
    routes: {
      '/page/[name]': { page: page(() => <p>x</p>), loader: moduleOf({ loader: named as never }) },
      '/kept/[name]': { page: page(() => <p>x</p>), loader: moduleOf({ loader: named as never }), cache: 'shared' },
      '/file/[name]': { handler: moduleOf({ GET }) },
      '/guarded': { guard: moduleOf({ guard: onlyPages as never }) },
      '/guarded/file/[name]': { handler: moduleOf({ GET }) },
    } as never,
  })
  return app
}

test.for(['/page/:', '/kept/:', '/file/:', '/file/:?of=context', '/file/:?file=1', '/file/:?file=1&of=context'])(
  '%s has its other headers, whatever the text is',
  async (path) => {
    const app = await valueApp()
    const headersOf = async (name: string) => {
      const answer = await request(app).get(path.replace(':', name)).expect(200)
      const { 'x-uploaded-by': text, ...rest } = answer.headers
      for (const other of ['date', 'etag', 'x-request-id', 'content-length', 'server-timing', 'cache-status'])
        delete rest[other]
      expect(text).toBe(name)
      return {
        ...rest,
        'content-security-policy': rest['content-security-policy']?.replaceAll(/'nonce-[^']+'/g, 'nonce'),
      }
    }
    const usual = await headersOf('Ann')
    for (const name of NAMES) expect({ name, ...(await headersOf(name)) }).toEqual({ name, ...usual })
  },
)

test("a guard's policy means pages, and is sent beside the one that keeps an upload from running", async () => {
  const { headers } = await request(await valueApp())
    .get('/guarded/file/Ann?file=1')
    .expect(200)
  expect(headers['content-security-policy']).toMatch(/^script-src 'unsafe-inline', default-src 'none'; .*sandbox$/)
})
