/** A document that caches may share contains no key against repetition: the key leads to the outcome of a call. */
import { Suspense, use } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { mayBeShared } from '../../src/server/http/cache-control.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { forbidden } from '../../src/shared/control-flow.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'

interface Setup {
  readonly loader?: string
  readonly rule?: string
  readonly middleware?: string
  readonly cookie?: boolean
  readonly guarded?: boolean
  readonly streamed?: boolean
  readonly refused?: boolean
}

/** A site with a form that signs in whoever sends it, each as somebody else. */
function site({ loader: caching, rule, middleware, cookie, guarded, streamed, refused }: Setup) {
  let visitors = 0
  const signIn = action({
    guarded: false,
    handler({ context }) {
      context.headers.append('Set-Cookie', `session=of-visitor-${(visitors += 1)}`)
    },
  })
  const loader = ({ context }: LoaderArgs) => {
    if (caching !== undefined) context.headers.set('Cache-Control', caching)
    if (refused) forbidden()
    return streamed ? { late: new Promise((resolve) => setTimeout(resolve, 5, 'late')) } : {}
  }
  const Form = () => (
    <form action={signIn as never}>
      <button>Sign in</button>
    </form>
  )
  const Late = ({ value }: { value: Promise<string> }) => <b>{use(value)}</b>
  const Shown = ({ data }: { data: { late?: Promise<string> } }) => (
    <>
      <Form />
      <Suspense>{data.late && <Late value={data.late} />}</Suspense>
    </>
  )
  return tinyApp({
    routes: {
      '/': {
        page: page(Shown),
        loader: moduleOf({ loader }),
        forbidden: page(Form),
        ...(guarded && { guard: moduleOf({ guard: () => undefined }) }),
      },
    } as never,
    actions: { [MODULE]: { signIn } },
    environment: { TRUST_PROXY: '127.0.0.1' },
    ...(rule !== undefined && {
      rules: { headers: [{ source: '/:path*', headers: [{ key: 'Cache-Control', value: rule }] }] },
    }),
    middleware: [
      (_req, res, next) => {
        if (middleware !== undefined) res.setHeader('Cache-Control', middleware)
        if (cookie) res.append('Set-Cookie', 'seen=1')
        next()
      },
    ],
  }).app
}

async function formOf(app: Parameters<typeof request>[0]) {
  const { text, headers } = await request(app).get('/')
  const [, target = ''] = /<form action="([^"]+)"/.exec(text) ?? []
  const fields = Object.fromEntries(
    Array.from(
      text.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g),
      ([, name = '', value = '']) => [name, value],
    ),
  )
  return { target: target.replaceAll('&amp;', '&'), fields, caching: String(headers['cache-control']) }
}

const SHARED = ['max-age=60', 'public, max-age=60', 's-maxage=9', 'must-revalidate', 'PUBLIC', 'private="x", max-age=1']
const OWN = ['private, max-age=60', 'no-store', 'no-cache, private', 'private=""']

describe('the form of a document', () => {
  const setups: readonly Setup[] = [...SHARED, ...OWN].flatMap((value) =>
    [{}, { cookie: true }, { guarded: true }, { streamed: true }, { refused: true }].flatMap((more) => [
      { ...more, loader: value },
      { ...more, rule: value },
      { ...more, middleware: value },
    ]),
  )

  test.for(setups)('has a key only if no cache may share it: %o', async (setup) => {
    const { fields, caching } = await formOf(site(setup))
    expect(fields).toHaveProperty('$ACTION_ID')
    expect('$ACTION_ONCE' in fields && mayBeShared(caching)).toBe(false)
    if (setup.streamed || setup.cookie || setup.guarded) expect(fields).toHaveProperty('$ACTION_ONCE')
  })

  test.for(OWN)('has a key where its author says `%s`', async (loader) => {
    expect((await formOf(site({ loader }))).fields).toHaveProperty('$ACTION_ONCE')
  })

  test.for(SHARED)('shared by `%s`, signs in each visitor as somebody else', async (loader) => {
    const app = site({ loader })
    const { target, fields } = await formOf(app)
    const cookieFor = async (address: string): Promise<string> => {
      const sent = request(app).post(target).set('X-Forwarded-For', address)
      for (const [name, value] of Object.entries(fields)) void sent.field(name, value)
      return String((await sent).headers['set-cookie'])
    }
    expect(await cookieFor('192.0.2.1')).toBe('session=of-visitor-1')
    expect(await cookieFor('198.51.100.7')).toBe('session=of-visitor-2')
  })
})

describe('the outcome of a form, under a key that a cache has given to strangers', () => {
  /** Sends the same form each time. @returns the cookie that it got. */
  async function sender() {
    const app = site({})
    const { target, fields } = await formOf(app)
    return async (address: string, cookie?: string): Promise<string> => {
      const sent = request(app).post(target).set('X-Forwarded-For', address)
      if (cookie !== undefined) void sent.set('Cookie', cookie)
      for (const [name, value] of Object.entries(fields)) void sent.field(name, value)
      return String((await sent).headers['set-cookie'])
    }
  }

  test.for([undefined, 'theme=dark', 'region=eu', '_ga=GA1.1.1234567890.1234567890'])(
    'is for the client that sent it, with the cookies %s',
    async (cookie) => {
      const send = await sender()
      const first = await send('192.0.2.1', cookie)
      expect(await send('192.0.2.1', cookie)).toBe(first)
      expect(await send('2001:db8::1', cookie)).not.toBe(first)
      expect(await Promise.all([send('192.0.2.8', cookie), send('192.0.2.9', cookie)])).toEqual(
        expect.not.arrayContaining([first]),
      )
    },
  )

  test('reaches a visitor with a session in another network', async () => {
    const send = await sender()
    const first = await send('192.0.2.1', 'sid=0123456789abcdef')
    expect(await send('198.51.100.7', 'sid=0123456789abcdef')).toBe(first)
  })

  test('reaches no stranger while it is being made', async () => {
    const send = await sender()
    const cookies = await Promise.all(['192.0.2.1', '192.0.2.2', '192.0.2.2'].map((address) => send(address)))
    expect(cookies[1]).toBe(cookies[2])
    expect(cookies[0]).not.toBe(cookies[1])
  })
})
