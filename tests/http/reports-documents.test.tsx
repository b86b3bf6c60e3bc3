import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { NO_ASSETS, RECORDER_SETTINGS } from '../../src/server/assets/manifest.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, page, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

const REPORTS = { recorder: `record(${RECORDER_SETTINGS})`, sdk: '/_m/assets/reports-1.js' }

const shared = ({ context }: LoaderArgs<'/shared'>): void => {
  context.headers.set('Cache-Control', 'public, max-age=60')
}

function server(options: Partial<TinyAppOptions> = {}) {
  const routes = {
    '/': { page: page(() => 'home') },
    '/shared': { page: page(() => 'shared'), loader: moduleOf({ loader: shared }) },
  } as never
  const manifest = { ...NO_ASSETS, buildId: 'b1', reports: REPORTS }
  return tinyApp({ routes, assets: { manifest, folder: '/nowhere' }, ...options }).app
}

/** Attributes and settings of the recorder in a document. */
function recorderIn(html: string): { readonly nonce: string; readonly settings: Record<string, unknown> } {
  const [, nonce = '', settings = '{}'] = /<script nonce="([^"]*)">record\((.*?)\)<\/script>/.exec(html) ?? []
  return { nonce, settings: JSON.parse(settings) as Record<string, unknown> }
}

describe('a document carries the recorder', () => {
  test('before everything that may fail, by its nonce, with what reports need', async () => {
    const app = server({
      environment: { SENTRY_DSN: 'https://key:secret@errors.example/42', SENTRY_ENVIRONMENT: 'east' },
    })
    const { text, headers } = await request(app).get('/').expect(200)
    const { nonce, settings } = recorderIn(text)
    expect(headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
    expect(settings).toEqual({
      dsn: 'https://key@errors.example/42',
      tunnel: app.reports.tunnelPath,
      sdk: REPORTS.sdk,
      release: 'b1',
      environment: 'east',
      rate: 0,
    })
    expect(text.indexOf('record(')).toBeLessThan(300)
    app.dispose()
  })

  test('by its hash where others may get the same document', async () => {
    const { text, headers } = await request(server()).get('/shared').expect(200)
    expect(recorderIn(text).nonce).toBe('')
    expect(headers['content-security-policy']).toMatch(/script-src 'self' 'sha256-[\w+/]{43}=';/)
  })

  test('that asks first, where the application says so', async () => {
    const reports = { consent: 'ask' } as const
    const { text } = await request(server({ reports })).get('/').expect(200)
    expect(recorderIn(text).settings).toMatchObject({ consent: true })
  })

  test('and is another document with other settings', async () => {
    const tagWith = async (environment: Readonly<Record<string, string>>): Promise<unknown> =>
      (await request(server({ environment })).get('/').expect(200)).headers['etag']
    expect(await tagWith({})).toBe(await tagWith({}))
    expect(await tagWith({ SENTRY_RELEASE: 'other' })).not.toBe(await tagWith({}))
  })
})

test('without a build for browsers, documents carry nothing', async () => {
  const { text } = await request(server({ assets: { manifest: NO_ASSETS, folder: '/nowhere' } }))
    .get('/')
    .expect(200)
  expect(text).not.toContain('<script nonce')
})
