import { onTestFinished, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { publicEnv } from 'millrace'
import { createApp, defineEnv } from 'millrace/server'
import { createTestApp } from 'millrace/testing'
import { PlainDocument } from '../../src/testing/plain-document.ts'
import { moduleOf, page } from '../support/tiny-app.tsx'

const HOSTILE = '</script><script>alert(1)</script><!--&\u2028'

const declared = () =>
  defineEnv(
    z.object({ API_URL: z.url(), TITLE: z.string(), MOST: z.coerce.number().default(5), API_KEY: z.string() }),
    {
      public: ['API_URL', 'TITLE', 'MOST'],
    },
  )

const ROUTES = {
  '/': {
    cache: 'shared',
    page: page(({ data }: { data: string }) => <p id="shown">{`${data} ${String(publicEnv()['MOST'])}`}</p>),
    loader: moduleOf({ loader: () => String(publicEnv()['TITLE']) }),
  },
} as never

async function started(environment: Readonly<Record<string, string>>, env: object = declared()) {
  const app = createTestApp({ env, routes: ROUTES, document: PlainDocument } as never, { environment })
  onTestFinished(() => app.stop())
  const answer = await app.visitor().fetch('/')
  return { status: answer.status, etag: answer.headers.get('etag'), html: await answer.text() }
}

const VALUES = { API_URL: 'https://api.example', TITLE: 'Mills', API_KEY: 'secret-key', OTHER: 'other' }

describe('public configuration', () => {
  test('is in front of everything in the document, and the same in loaders and components', async () => {
    const { html } = await started({ ...VALUES, MOST: '7' })
    expect(html).toContain('<p id="shown">Mills 7</p>')
    const [block = '', json = ''] =
      /<script type="application\/json" id="millrace-env">(.*?)<\/script>/.exec(html) ?? []
    expect(JSON.parse(json)).toEqual({ API_URL: 'https://api.example', TITLE: 'Mills', MOST: 7 })
    expect(html.slice(0, html.indexOf(block))).not.toContain('<script')
    expect(html).not.toMatch(/secret-key|other/)
  })

  test('is escaped', async () => {
    const { html } = await started({ ...VALUES, TITLE: HOSTILE })
    expect(html).not.toContain('<script>alert')
    expect(html).not.toContain('\u2028</script>')
    const [, json = ''] = /id="millrace-env">(.*?)<\/script>/.exec(html) ?? []
    expect(JSON.parse(json)).toMatchObject({ TITLE: HOSTILE })
  })

  test('is part of the tag of each page', async () => {
    const [one, other, again] = [
      await started(VALUES),
      await started({ ...VALUES, API_URL: 'https://b.example' }),
      await started(VALUES),
    ]
    expect(one.etag).toMatch(/^W\//)
    expect(other.etag).not.toBe(one.etag)
    expect(again.etag).toBe(one.etag)
  })

  test.for([
    ['is not set', { API_URL: undefined }, /^API_URL: is not set$/],
    ['may be left out by the schema', { MAYBE: undefined }, /^MAYBE: is not set, and browsers need it$/],
    ['is what every object has', { ['__proto__']: undefined }, /^__proto__: is not set, and browsers need it$/],
    ['is another of those', { constructor: undefined }, /^constructor: is not set, and browsers need it$/],
    ['is nothing for JSON', { SINCE: '2026-01-01' }, /^SINCE: browsers need it, and JSON cannot represent its value$/],
  ] as const)('stops the start by name if it %s', ([, changes, fault]) => {
    const env = defineEnv(
      z.object({ API_URL: z.url(), MAYBE: z.string().optional(), SINCE: z.coerce.date().optional() }),
      {
        public: ['API_URL', ...(Object.keys(changes) as ('MAYBE' | 'SINCE' | 'API_URL')[])],
      },
    )
    const given = { ...VALUES, LOG_LEVEL: 'silent', ...changes }
    expect(() => createApp({ app: { env, routes: ROUTES, document: PlainDocument } as never, env: given })).toThrow(
      fault,
    )
  })

  test('is frozen, can be sent to a worker, and fails with a way out where nothing is set', async () => {
    await started(VALUES)
    expect(Object.isFrozen(publicEnv())).toBe(true)
    expect(structuredClone(publicEnv())).toEqual(publicEnv())
    const { status, html } = await started({}, defineEnv(z.object({})))
    expect([status, html.includes('millrace-env')]).toEqual([500, false])
    expect(publicEnv).toThrow(/postMessage/)
  })

  test('is frozen to its depth on both sides', async () => {
    const parsed = z.string().transform((text) => JSON.parse(text) as { host: string }[])
    const env = () => defineEnv(z.object({ SERVERS: parsed }), { public: ['SERVERS'] })
    const SERVERS = '[{"host":"a"}]'
    const expectFrozen = (): void => {
      const servers = publicEnv()['SERVERS'] as unknown as { host: string }[]
      expect(() => servers.push({ host: 'b' })).toThrow(TypeError)
      expect(() => Object.assign(servers[0] ?? {}, { host: 'b' })).toThrow(TypeError)
    }
    const { html } = await started({ SERVERS }, env())
    expectFrozen()
    await started({}, defineEnv(z.object({})))
    const [, textContent = ''] = /id="millrace-env">(.*?)<\/script>/.exec(html) ?? []
    vi.stubGlobal('document', { querySelector: () => ({ textContent }) })
    expectFrozen()
  })
})
