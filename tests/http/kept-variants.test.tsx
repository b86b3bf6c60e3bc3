/** `variants`: kept pages of which there are a few, chosen by a function of the request. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import type { VariantRequest } from '../../src/shared/route-definition.ts'
import { counted, drop, numberOf, statusOf, visit } from '../support/kept-pages.tsx'
import { slotOf, slotted } from '../support/kept-shells.tsx'
import { tinyApp } from '../support/tiny-app.tsx'

const says = ({ variants }: LoaderArgs) => variants['language'] ?? 'nobody'

const language = ({ cookies, headers }: VariantRequest) =>
  (cookies['language'] ?? headers.get('Accept-Language') ?? '').startsWith('de') ? 'de' : 'en'

describe('a page with variants', () => {
  test('is kept once for each, as document and as data, and dropped as one', async () => {
    const { state, route } = counted(says, { seconds: 60 })
    const site = tinyApp({ routes: { '/': { ...route, variants: { language } }, '/drop': drop } })
    const ask = async (headers: Record<string, string>) => {
      const answers = [await visit(site, '/', headers), await visit(site, '/_m/data/', headers)]
      return answers.map((answer) => `${numberOf(answer)}, ${/fwd=\w+|hit/.exec(statusOf(answer))?.[0]}`)
    }
    expect(await ask({ 'Accept-Language': 'de-AT' })).toEqual(['made 1 for de, fwd=miss', 'made 1 for de, hit'])
    expect(await ask({ Cookie: 'language=en', 'Accept-Language': 'de' })).toEqual([
      'made 2 for en, fwd=miss',
      'made 2 for en, hit',
    ])
    expect(await ask({ Cookie: 'language=de; other=1' })).toEqual(['made 1 for de, hit', 'made 1 for de, hit'])
    await request(site.app).post('/drop?what=mills').set('Host', 'mills.example').expect(200)
    expect((await ask({}))[0]).toBe('made 3 for en, fwd=miss')
    expect((await ask({ Cookie: 'language=de' }))[0]).toBe('made 4 for de, fwd=miss')
    expect(state.made).toBe(4)
  })

  test.for([
    ['the default', undefined],
    ['a loader’s that shares it', 'public, s-maxage=60'],
  ])('is never shared by caches in front, because many of them ignore Vary: %s', async ([, caching]) => {
    const { route } = counted((args) => {
      if (caching !== undefined) args.context.headers.set('Cache-Control', caching)
      return says(args)
    })
    const site = tinyApp({ routes: { '/': { ...route, variants: { language } } } })
    for (const path of ['/', '/', '/_m/data/']) {
      const { headers } = await visit(site, path, { Cookie: 'a=1' })
      expect(statusOf({ headers })).not.toContain('bypass')
      expect(headers['cache-control']).toBe('private, no-cache')
      expect(headers['vary']?.toLowerCase().split(', ')).toEqual(
        expect.arrayContaining(['accept-encoding', 'cookie', 'accept-language']),
      )
    }
    // A rule of the application counts for its pages as a loader's header does.
    const rules = { headers: [{ source: '/', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] }] }
    const ruled = tinyApp({ routes: { '/': { ...counted(says).route, variants: { language } } }, rules } as never)
    expect((await visit(ruled)).headers['cache-control']).toBe('private, no-cache')
    // So do headers that come before it for some caches.
    const targeted = { headers: [{ source: '/', headers: [{ key: 'CDN-Cache-Control', value: 'max-age=60' }] }] }
    const forCdn = tinyApp({
      routes: { '/': { ...counted(says).route, variants: { language } } },
      rules: targeted,
    } as never)
    for (const path of ['/', '/']) expect((await visit(forCdn, path)).headers).not.toHaveProperty('cdn-cache-control')
  })

  test('has 32 at most; a visitor who would make another one gets an answer of its own', async () => {
    const { state, route } = counted(says)
    const raw = ({ headers }: VariantRequest) => headers.get('accept-language') ?? ''
    const site = tinyApp({ routes: { '/': { ...route, variants: { language: raw } } } })
    for (let index = 0; index < 100; index += 1) {
      const answer = await visit(site, '/', { 'Accept-Language': `l${index}` })
      expect(answer.text).toContain(`for l${index}`)
      const isKept = index < 32
      expect(statusOf(answer)).toContain(isKept ? 'stored' : 'fwd=bypass; detail="more than 32 variants"')
    }
    expect(statusOf(await visit(site, '/', { 'Accept-Language': 'l5' }))).toContain('hit')
    expect([state.made, site.app.caches.documents.entries]).toEqual([100, 32])
    expect(site.logs.filter(({ reason }) => reason === 'more than 32 variants')).toHaveLength(1)
  })

  test('has room for others where one visitor has asked for all of them', async () => {
    const raw = ({ headers }: VariantRequest) => headers.get('accept-language') ?? ''
    const site = tinyApp({
      routes: { '/': { ...counted(says).route, variants: { language: raw } } },
      environment: { TRUST_PROXY: '127.0.0.1' },
    })
    const ask = async (client: string, language: string) =>
      statusOf(await visit(site, '/', { 'X-Forwarded-For': client, 'Accept-Language': language }))
    for (let index = 0; index < 40; index += 1) await ask('203.0.113.9', `l${index}`)
    for (let index = 0; index < 20; index += 1) {
      expect(await ask(`192.0.2.${index}`, `new ${index}`)).toContain('stored')
      expect(await ask('203.0.113.9', `more ${index}`)).toContain('more than 32 variants')
    }
    for (let index = 0; index < 20; index += 1) expect(await ask('192.0.2.99', `new ${index}`)).toContain('hit')
  })

  test.for([
    [
      'throws',
      () => {
        throw new Error('no such language')
      },
    ],
    ['returns no text', () => 7],
    ['is asynchronous', () => Promise.reject(new Error('late'))],
    ['returns too much', () => 'x'.repeat(101)],
    ['writes into the request', (view: { host: string }) => (view.host = 'de')],
    ['writes into its cookies', ({ cookies }: { cookies: Record<string, string> }) => (cookies['a'] = 'de')],
  ] as const)('whose function %s is for each visitor alone, and the log names it once', async ([, broken]) => {
    const { route } = counted(says)
    const site = tinyApp({ routes: { '/': { ...route, variants: { language: broken as never } } } })
    for (let asked = 0; asked < 2; asked += 1) {
      const answer = await visit(site).expect(200)
      expect(statusOf(answer)).toBe('Millrace; fwd=bypass; detail="variant language failed"')
      expect([numberOf(answer), answer.headers['cache-control']]).toEqual([
        `made ${asked + 1} for nobody`,
        'private, no-cache',
      ])
    }
    expect(site.logs.filter(({ reason }) => reason === 'variant language failed')).toHaveLength(1)
  })

  test('says the same to visitor, on shells, for clicks and in private answers', async () => {
    const { state, route } = slotted(({ context, variants }) => ({
      name: `${context.cookie('visitor') ?? 'nobody'} reads ${variants['language']}`,
    }))
    const plain = { page: route.page, loader: route.loader }
    const site = tinyApp({ routes: { '/': { ...route, variants: { language } }, '/plain': plain } as never })
    for (const [cookies, name] of [
      ['language=de', 'nobody'],
      ['language=de; visitor=ann', 'ann'],
      ['visitor=bob', 'bob'],
    ] as const) {
      const expected = `${name} reads ${cookies.includes('de') ? 'de' : 'en'}`
      expect(slotOf(await visit(site, '/', { Cookie: cookies }))).toBe(expected)
      expect((await visit(site, '/_m/data/', { Cookie: cookies })).text).toContain(expected)
    }
    expect(state.made).toBe(2)
    const robot = { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)', Cookie: 'language=de; visitor=ann' }
    expect(slotOf(await visit(site, '/', robot))).toBe('ann reads de')
    expect(slotOf(await visit(site, '/plain', { Cookie: 'visitor=ann' }))).toBe('ann reads undefined')
  })

  test('may depend on the host, and sees the header of nobody else', async () => {
    const views: VariantRequest[] = []
    const look = (view: VariantRequest) => (views.push(view), view.host === 'mills.example' ? 'mills' : 'others')
    const site = tinyApp({ routes: { '/': { ...counted(says).route, variants: { language: look } } } })
    await visit(site, '/', { Host: 'Mills.Example' })
    const [view] = views
    expect([view?.headers.get('constructor'), view?.headers.has('__proto__'), view?.cookies['toString']]).toEqual([
      null,
      false,
      undefined,
    ])
    expect(statusOf(await visit(site))).toContain('hit')
  })
})
