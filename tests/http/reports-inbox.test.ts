import request from 'supertest'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import application from '../../src/app/app.ts'
import { createApp, type MillraceApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { createInbox, type InboxStore } from '../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase } from '../../src/server/reports/report-database.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const TRACE = 'ab'.repeat(16)
const HOSTILE = '<script>alert(1)</script>'

let folder: TempDir
let apps: MillraceApp[]
let closers: (() => void)[]

beforeEach(async () => {
  folder = await makeTempDir('inbox-page')
  apps = []
  closers = []
})
afterEach(async () => {
  for (const app of apps) app.dispose()
  for (const close of closers) close()
  await folder.remove()
})

function start(env: Record<string, string> = {}): MillraceApp {
  const app = createApp({
    app: application,
    config: readConfig({ DATA_DIR: folder.path, LOG_LEVEL: 'silent', ...env }),
  })
  apps.push(app)
  return app
}

/** The inbox of another process of the same server. */
function inbox(): InboxStore {
  const database = openReportDatabase(folder.path)
  closers.push(() => database.dispose())
  return createInbox(database)
}

function receive(store: InboxStore, event: object): Buffer {
  const payload = Buffer.from(JSON.stringify(event))
  const body = serializeEnvelope({ header: {}, items: [{ type: 'event', header: { type: 'event' }, payload }] })
  store.accept({
    receivedAt: 1_800_000_000_000,
    client: '192.0.2.1',
    eventId: undefined,
    headers: {},
    body,
    categories: { error: 1 },
    keep: 'error',
  })
  return body
}

const failure = (value: string): object => ({
  exception: {
    values: [
      {
        type: 'Error',
        value,
        stacktrace: { frames: [{ function: 'grind', filename: 'src/mill.ts', lineno: 7, colno: 3 }] },
      },
    ],
  },
  platform: 'node',
  release: 'r1',
  transaction: '/mills/[id]',
  tags: { digest: '3f1c9a0b7d52' },
  contexts: { trace: { trace_id: TRACE } },
})

/** Elements with a `data-testid` that hold nothing but text. */
function textsOf(html: string): string[] {
  return [...html.matchAll(/data-testid="([^"]+)"[^>]*>([^<]*)</g)].map(([, name, text]) => `${name}: ${text}`)
}

describe('/lab/reports', () => {
  it('says that nothing has failed, where nothing has', async () => {
    const { status, text } = await request(start()).get('/lab/reports')
    expect(status).toBe(200)
    expect(text).toContain('Nothing has failed yet')
    expect(text).toContain('data-testid="reports"')
  })

  it('shows one entry a group with its count, and leads to the details and the envelope, without scripts', async () => {
    const app = start()
    const store = inbox()
    const body = receive(store, failure('the wheel is stuck'))
    receive(store, { ...failure('the wheel is stuck'), platform: 'javascript' })
    const list = await request(app).get('/lab/reports')
    expect(list.text.match(/<li class="[^"]*group/g)).toHaveLength(1)
    expect(list.text).toContain('×2')
    expect(list.headers['cache-control']).toBe('private, no-cache')

    const href = /href="(\/lab\/reports\/[0-9a-f]{16})"/.exec(list.text)?.[1] ?? ''
    const details = await request(app).get(href)
    expect(details.status).toBe(200)
    for (const [name, value] of [
      ['title', 'Error: the wheel is stuck'],
      ['digest', '3f1c9a0b7d52'],
      ['route', '/mills/[id]'],
      ['release', 'r1'],
      ['trace', TRACE],
      ['side', 'browser'],
    ]) {
      expect(textsOf(details.text)).toContain(`report-${name}: ${value}`)
    }
    expect(details.text).toContain('grind (src/mill.ts:7:3)')

    const other = /data-testid="report-trace-items".*?href="([^"]+)"/.exec(details.text)?.[1] ?? ''
    const server = await request(app).get(other)
    expect(server.text).toMatch(/data-testid="report-side"[^>]*>server</)
    const saved = /href="(\/lab\/reports\/envelopes\/\d+)"/.exec(server.text)?.[1] ?? ''
    const envelope = await request(app).get(saved).responseType('blob')
    expect(envelope.headers['content-type']).toBe('application/x-sentry-envelope')
    expect(envelope.headers['content-disposition']).toMatch(/^attachment; filename="\d+\.envelope"$/)
    expect(envelope.headers['cross-origin-resource-policy']).toBe('same-origin')
    expect((envelope.body as Buffer).equals(body)).toBe(true)
  })

  it('shows what a hostile report says as text, and nothing else', async () => {
    const app = start()
    receive(inbox(), {
      message: HOSTILE,
      transaction: HOSTILE,
      tags: { [HOSTILE]: HOSTILE },
      request: { url: `javascript:alert(1)//${HOSTILE}` },
    })
    const list = await request(app).get('/lab/reports')
    const href = /href="(\/lab\/reports\/[0-9a-f]{16})"/.exec(list.text)?.[1] ?? ''
    const details = await request(app).get(href)
    for (const { status, text } of [list, details]) {
      expect(status).toBe(200)
      expect(text).toContain('&lt;script&gt;alert(1)')
      expect(text).not.toContain(HOSTILE)
      expect(text).not.toMatch(/href="javascript:/)
    }
  })

  it.each([
    '/lab/reports/0123456789abcdef',
    '/lab/reports/x',
    '/lab/reports/envelopes/1',
    '/lab/reports/envelopes/1e3',
  ])('answers %s with 404 where there is no such thing', async (path) => {
    expect((await request(start()).get(path)).status).toBe(404)
  })

  it('can only be read', async () => {
    for (const path of ['/lab/reports', '/lab/reports/0123456789abcdef', '/lab/reports/envelopes/1']) {
      for (const method of ['post', 'put', 'delete'] as const) {
        expect((await request(start())[method](path)).status).toBe(405)
      }
    }
  })

  it('says that reports go to the service where a DSN is set, and shows nothing of what was kept before', async () => {
    const store = inbox()
    receive(store, failure('the wheel is stuck'))
    const [group] = store.list(1).groups
    const app = start({ SENTRY_DSN: 'http://key@127.0.0.1:9/1' })
    const { status, text } = await request(app).get('/lab/reports')
    expect(status).toBe(200)
    expect(text).toContain('data-testid="reports-elsewhere"')
    expect(text).not.toContain('the wheel is stuck')
    expect(text).not.toContain('data-testid="reports"')
    expect((await request(app).get(`/lab/reports/${group?.id}`)).status).toBe(404)
    expect((await request(app).get('/lab/reports/envelopes/1')).status).toBe(404)
  })
})
