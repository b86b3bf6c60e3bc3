import { setTimeout as delay } from 'node:timers/promises'
import { Suspense, use, type ReactNode } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs, VisitorArgs } from '../../src/server/api/loader-types.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { notFound, redirect } from '../../src/shared/control-flow.ts'
import { nameInCookie, slotOf, slotted } from '../support/kept-shells.tsx'
import { drop, numberOf, statusOf, visit, withClock } from '../support/kept-pages.tsx'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const as = (name: string) => ({ Cookie: `visitor=${name}` })

describe('a kept page with a slot', () => {
  test('is complete for strangers, and one shell with their slots for visitors', async () => {
    const { state, route } = slotted()
    const site = tinyApp({ routes: { '/': route } })
    const first = await visit(site).expect(200)
    for (const cookie of ['', 'other=1', 'a=visitor']) {
      const stranger = await visit(site, '/', cookie === '' ? {} : { Cookie: cookie })
      expect(stranger.text).toBe(first.text)
      expect(stranger.headers).toMatchObject({ 'cache-control': 'public, no-cache', etag: first.headers['etag'] })
    }
    expect([slotOf(first), state.visited]).toEqual(['nobody', 1])
    expect(first.text).not.toMatch(/<template|<script(?! type="application\/json")/)
    for (const [index, name] of ['ann', 'bob', 'ann'].entries()) {
      const answer = await visit(site, '/', { ...as(name), 'If-None-Match': first.headers['etag'] ?? '' }).expect(200)
      expect([numberOf(answer), slotOf(answer), state.visited]).toEqual(['made 1', name, 2 + index])
      expect(answer.headers).toMatchObject({
        'cache-status': expect.stringMatching(/^Millrace; hit; ttl=(?:59|60)$/),
        'cache-control': 'private, no-cache',
        age: '0',
      })
      expect(answer.headers['etag']).toBeUndefined()
    }
    expect(state.made).toBe(1)
    expect(site.logs.flatMap(({ cache }) => cache ?? []).slice(1)).toEqual(Array.from({ length: 6 }, () => 'hit'))
  })

  test('runs its scripts by hash in the kept part, and by a nonce of its own in what follows', async () => {
    const site = tinyApp({ routes: { '/': slotted().route } })
    const answers = [await visit(site, '/', as('ann')), await visit(site, '/', as('bob'))]
    const nonces = answers.map(({ text, headers }) => {
      const policy = headers['content-security-policy'] ?? ''
      const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? []
      expect(policy).toMatch(/script-src 'self' 'nonce-[\w+/=]+' 'sha256-[\w+/=]{44}';/)
      const [kept = '', own = ''] = text.split('id="millrace"')
      expect(kept).not.toContain(nonce)
      expect(kept.match(/<script(?: id="[^"]*")?>/g)).toHaveLength(1)
      for (const [tag] of own.slice(own.indexOf('</script>')).matchAll(/<script[^>]*>/g))
        expect(tag).toContain(`nonce="${nonce}"`)
      return nonce
    })
    expect(new Set(nonces).size).toBe(2)
    const [kept] = answers.map(({ text }) => text.slice(0, text.indexOf('</script><script nonce')))
    expect(answers[1]?.text.startsWith(kept ?? '')).toBe(true)
    expect(kept).toContain('wait')
  })

  test('is a shell for whoever brings a password, and whole for crawlers', async () => {
    const { state, route } = slotted()
    const site = tinyApp({ routes: { '/': route } })
    const answer = await visit(site, '/', { Authorization: 'Basic YTpi' })
    expect([statusOf(answer), answer.headers['cache-control'], slotOf(answer)]).toEqual([
      expect.stringContaining('fwd=miss; stored'),
      'private, no-cache',
      'nobody',
    ])
    const robot = { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' }
    expect(statusOf(await visit(site, '/', robot))).toContain('hit')
    const known = await visit(site, '/', { ...robot, ...as('ann') })
    expect([statusOf(known), slotOf(known)]).toEqual(['Millrace; fwd=bypass; detail="crawler"', 'ann'])
    expect(known.text).not.toMatch(/<template/)
    expect(state.made).toBe(2)
  })

  test('has a head, and goes stale and is dropped as other kept pages', async () => {
    const pass = withClock()
    const { state, route } = slotted()
    const site = tinyApp({ routes: { '/': route, '/drop': drop } })
    await visit(site)
    const head = await request(site.app)
      .head('/')
      .set({ Host: 'mills.example', ...as('ann') })
    expect([head.status, statusOf(head), state.visited]).toEqual([200, expect.stringContaining('hit'), 1])
    pass(61_000)
    expect(statusOf(await visit(site, '/', as('ann')))).toContain('fwd=stale')
    await expect.poll(async () => numberOf(await visit(site, '/', as('ann')))).toBe('made 2')
    await request(site.app).post('/drop?what=mills').set('Host', 'mills.example').expect(200)
    expect(numberOf(await visit(site, '/', as('ann')))).toBe('made 3')
  })

  test('is a shell for everybody if the visitor is known by more than cookies', async () => {
    const { state, route } = slotted(({ request: asked, context }) => ({
      name: `${asked.headers.get('x-name') ?? 'nobody'} ${context.cookie('x') ?? ''}`,
    }))
    const site = tinyApp({ routes: { '/': route } })
    for (const name of ['ann', 'bob']) {
      const answer = await visit(site, '/', { 'X-Name': name })
      expect([slotOf(answer), answer.headers['cache-control']]).toEqual([`${name} `, 'private, no-cache'])
    }
    expect(state.made).toBe(1)
  })

  test('may have its slots in a layout, and in a page without a loader', async () => {
    const layout = page(({ data, children }: { data: { visitor: Promise<string> }; children: ReactNode }) => (
      <>
        <Suspense fallback="wait">
          <Name value={data.visitor} />
        </Suspense>
        {children}
      </>
    ))
    const layoutVisitor = ({ context }: VisitorArgs) => `layout ${context.cookie('visitor') ?? 'nobody'}`
    const bare = page(({ data }: { data: { visitor: Promise<{ name: string }> } }) => (
      <Suspense>
        <Part value={data.visitor} />
      </Suspense>
    ))
    const missing = moduleOf({ loader: () => notFound() })
    const site = tinyApp({
      routes: {
        '/': { layout: layout as never, layoutLoader: moduleOf({ layoutVisitor }), ...fallbacks('root') },
        '/kept': { cache: 'shared', page: bare, loader: moduleOf({ visitor: nameInCookie }) as never },
        '/missing': { cache: 'shared', page: bare, loader: missing },
        '/plain': { page: page(() => 'plain') },
      },
    })
    const shown = async (path: string, headers = {}) => {
      const { text } = await visit(site, path, headers)
      return [/<u>([^<]*)</.exec(text)?.[1], /<b>([^<]*)</.exec(text)?.[1]]
    }
    expect(await shown('/kept')).toEqual(['layout nobody', 'nobody'])
    expect(await shown('/kept', as('ann'))).toEqual(['layout ann', 'ann'])
    expect(await shown('/missing')).toEqual(['layout nobody', undefined])
    // The fallback is made for nobody; a visitor of the layout gets one of its own.
    const refused = await visit(site, '/missing', as('ann')).expect(404)
    expect([statusOf(refused), await shown('/missing', as('ann'))]).toEqual([
      'Millrace; fwd=bypass; detail="status 404"',
      ['layout ann', undefined],
    ])
    const clicked = await visit(site, '/_m/data/kept', as('ann'))
    expect(clicked.text).toMatch(/layout ann.*\{\\"name\\":\\"ann\\"\}/s)
    const plain = await visit(site, '/plain', as('ann'))
    expect([plain.headers['cache-status'], await shown('/plain', as('ann'))]).toEqual([
      undefined,
      ['layout ann', undefined],
    ])
  })
})

function Part({ value }: { readonly value: Promise<{ name: string }> }) {
  return <b>{use(value).name}</b>
}

function Name({ value }: { readonly value: Promise<string> }) {
  return <u>{use(value)}</u>
}

describe('a function visitor', () => {
  const cases: readonly (readonly [string, string, (args: VisitorArgs) => unknown])[] = [
    ['fails', 'the database is away', () => Promise.reject(new Error('the database is away'))],
    ['redirects', 'visitor of /#page has redirected or refused', () => redirect('/elsewhere')],
    ['refuses', 'visitor of /#page has redirected or refused', async () => notFound()],
    [
      'sets a cookie',
      'visitor of /#page has used context.headers',
      ({ context }) => context.headers.append('Set-Cookie', 'a=1'),
    ],
    [
      'changes what is everybody’s',
      'made',
      ({ data }) => Object.assign(data as unknown as object, { made: 'made by ann' }),
    ],
  ]
  test.for(cases)('that %s fails in its slot alone, with one report', async ([, message, run]) => {
    const { state, route } = slotted((args) =>
      args.context.cookie('visitor') === 'ann' ? run(args) : nameInCookie(args),
    )
    const site = tinyApp({ routes: { '/': route } })
    await visit(site)
    const answer = await visit(site, '/', as('ann')).expect(200)
    expect([numberOf(answer), slotOf(answer), answer.headers['set-cookie']]).toEqual(['made 1', undefined, undefined])
    expect(answer.text).toContain('</body></html>')
    const failures = site.logs.filter(({ msg }) => msg === 'uncaught failure')
    expect(failures).toHaveLength(1)
    expect(JSON.stringify(failures)).toContain(message)
    expect([slotOf(await visit(site, '/', as('bob'))), state.made]).toEqual(['bob', 1])
  })

  test('that never ends is ended with the request', async () => {
    const { route } = slotted((args) =>
      args.context.cookie('visitor') === 'ann' ? new Promise(() => undefined) : nameInCookie(args),
    )
    const site = tinyApp({ routes: { '/': route }, environment: { RENDER_TIMEOUT_MS: '1000' } })
    await visit(site)
    const answer = await visit(site, '/', as('ann')).expect(200)
    expect([slotOf(answer), answer.text.endsWith('</body></html>')]).toEqual([undefined, true])
    expect(site.logs.filter(({ msg }) => msg === 'uncaught failure')).toHaveLength(1)
  })

  test('that fails for strangers costs nobody the kept part', async () => {
    const { state, route } = slotted(({ context }) => ({ name: (context.cookie('visitor') as string).toUpperCase() }))
    const site = tinyApp({ routes: { '/': route } })
    expect(numberOf(await visit(site).expect(200))).toBe('made 1')
    expect(slotOf(await visit(site, '/', as('ann')))).toBe('ANN')
    expect(state.made).toBe(1)
  })

  test('gets dates and maps that others cannot change', async () => {
    const shown = page(({ data }: { data: { names: Map<string, number>; visitor: Promise<string> } }) => (
      <Suspense>
        <Name value={data.visitor} />
      </Suspense>
    ))
    const loader = () => ({ names: new Map([['mill', 1]]) })
    const visitor = ({ data, context }: VisitorArgs<never, typeof loader>) => {
      data.names.set(context.cookie('visitor') ?? 'nobody', 2)
      return [...data.names.keys()].join()
    }
    const site = tinyApp({
      routes: { '/': { cache: 'shared', page: shown, loader: moduleOf({ loader, visitor }) as never } },
    })
    await visit(site)
    for (const name of ['ann', 'bob']) expect((await visit(site, '/', as(name))).text).toContain(`<u>mill,${name}</u>`)
  })
})

describe('a click on a kept page with a slot', () => {
  test('gets the kept data with what is the visitor’s, for all visitors and only for them', async () => {
    const pass = withClock()
    const { state, route } = slotted()
    const site = tinyApp({ routes: { '/': route, '/drop': drop } })
    await visit(site)
    pass(2_000)
    for (const name of ['ann', 'nobody']) {
      const answer = await visit(site, '/_m/data/', name === 'nobody' ? {} : as(name)).expect(200)
      expect([numberOf(answer), statusOf(answer)]).toEqual(['made 1', expect.stringContaining('hit; ttl=58')])
      expect(answer.headers).toMatchObject({ age: '2', 'cache-control': 'private, no-store' })
      expect(answer.text).toContain(`{\\"name\\":\\"${name}\\"}`)
      expect(answer.text).toContain('"tags":["mills"]')
      expect(answer.text.trimEnd().endsWith('{"done":true}')).toBe(true)
    }
    await request(site.app).post('/drop?what=mills').set('Host', 'mills.example').expect(200)
    expect(numberOf(await visit(site, '/_m/data/', as('bob')))).toBe('made 2')
    expect([slotOf(await visit(site, '/', as('ann'))), state.made]).toEqual(['ann', 2])
  })

  test('is a redirect of the loader, made once', async () => {
    const { state, route } = slotted(undefined, () => redirect('/elsewhere'))
    const site = tinyApp({ routes: { '/': route } })
    const answer = await visit(site, '/_m/data/', as('ann'))
    expect(answer.text).toContain('"redirect":{"to":"/elsewhere"}')
    expect(state.made).toBe(1)
  })
})

test('a session that visitor opens is that of the visitor, and neither renewed nor asked for its message', async () => {
  const pass = withClock()
  const session = defineSession({ schema: z.object({ user: z.string() }), maxAgeSeconds: 100 })
  const { state, route } = slotted(async ({ context }) => {
    const opened = await session.open(context)
    await opened.renew()
    return { name: `${opened.data?.user ?? 'nobody'} ${opened.takeFlash() ?? 'silent'}` }
  })
  const handler = moduleOf({
    POST: async ({ context }: LoaderArgs) => {
      const opened = await session.open(context)
      await opened.set({ user: 'ann' })
      await opened.flash('hello')
      return new Response('')
    },
  })
  const site = tinyApp({ routes: { '/': route, '/sign-in': { handler } } })
  await visit(site)
  const signedIn = await request(site.app).post('/sign-in').set('Host', 'mills.example').expect(200)
  const lines = signedIn.headers['set-cookie'] as unknown as readonly string[]
  const Cookie = lines.map((line) => line.split(';')[0]).join('; ')
  pass(59_000)
  for (const path of ['/', '/_m/data/']) {
    const answer = await visit(site, path, { Cookie })
    expect(answer.text).toContain('ann silent')
    expect([numberOf(answer), answer.headers['set-cookie']]).toEqual(['made 1', undefined])
  }
  expect([slotOf(await visit(site)), state.made]).toEqual(['nobody silent', 1])
  expect(site.logs.filter(({ msg }) => msg === 'uncaught failure')).toEqual([])
})

test('a component that is another one for visitors is named', async () => {
  const isOther = { value: false }
  const Frame = ({ children }: { children: ReactNode }) => <section>{children}</section>
  const Card = ({ children }: { children: ReactNode }) => <article>{children}</article>
  const shown = page(({ data }: { data: { visitor: Promise<{ name: string }> } }) => {
    const Around = isOther.value ? Card : Frame
    return (
      <Around>
        <Suspense>
          <Part value={data.visitor} />
        </Suspense>
      </Around>
    )
  })
  const loader = moduleOf({ visitor: nameInCookie }) as never
  const site = tinyApp({ routes: { '/': { cache: 'shared', page: shown, loader } } })
  await visit(site)
  isOther.value = true
  const { text } = await visit(site, '/', as('ann')).expect(200)
  expect(text.endsWith('</body></html>')).toBe(true)
  expect(JSON.stringify(site.logs)).toMatch(/Expected the resume to render <Frame>.*instead it rendered <Card>/)
})

test('a page that waits by itself has no shell, and is kept for strangers', async () => {
  const others = new WeakMap<object, Promise<string>>()
  const otherOf = (data: object): Promise<string> =>
    others.get(data) ?? others.set(data, delay(200, 'late')).get(data) ?? Promise.reject(new Error('none'))
  const shown = page(({ data }: { data: { visitor: Promise<string> } }) => (
    <Suspense fallback="wait">
      <Suspense fallback="other">
        <Name value={otherOf(data)} />
      </Suspense>
      <Suspense fallback="slot">
        <Name value={data.visitor} />
      </Suspense>
    </Suspense>
  ))
  const visitor = ({ context }: VisitorArgs) => context.cookie('visitor') ?? 'nobody'
  const site = tinyApp({ routes: { '/': { cache: 'shared', page: shown, loader: moduleOf({ visitor }) as never } } })
  const answer = await visit(site, '/', as('ann'))
  expect([statusOf(answer), answer.headers['cache-control']]).toEqual([
    'Millrace; fwd=bypass; detail="suspends"',
    'private, no-cache',
  ])
  expect(answer.text).toContain('<u>ann</u>')
  expect(statusOf(await visit(site))).toContain('hit')
  expect(site.logs.flatMap(({ reason }) => reason ?? [])).toEqual(['suspends'])
})

test('a shell that is too large is made for each visitor, and the page is kept for strangers', async () => {
  const shown = page(({ data }: { data: { visitor: Promise<{ name: string }> } }) => (
    <Suspense>
      <Part value={data.visitor} />
    </Suspense>
  ))
  for (const [characters, status] of [
    [300_000, 'hit'],
    [600_000, 'fwd=bypass; detail="too large"'],
  ] as const) {
    const loader = moduleOf({ loader: () => ({ text: 'x'.repeat(characters) }), visitor: nameInCookie }) as never
    const site = tinyApp({ routes: { '/': { cache: 'shared', page: shown, loader } } })
    await visit(site)
    expect(statusOf(await visit(site))).toContain('hit')
    expect(statusOf(await visit(site, '/', as('ann')))).toContain(status)
    expect(site.app.caches.documents.bytes).toBeGreaterThan(600_000)
  }
})

test('caches that do not ask again know that the page depends on cookies', async () => {
  const { route } = slotted(undefined, ({ context }) => context.headers.set('Cache-Control', 'public, s-maxage=60'))
  const site = tinyApp({ routes: { '/': route } })
  const { headers } = await visit(site)
  expect(headers).toMatchObject({
    'cache-control': 'public, s-maxage=60',
    vary: 'Accept-Encoding, Cookie, Authorization',
  })
  expect((await visit(site, '/', as('ann'))).headers['cache-control']).toBe('private, no-cache')
})
