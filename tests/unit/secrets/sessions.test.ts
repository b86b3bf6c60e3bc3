import fc from 'fast-check'
import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createSecrets, openSecrets, type Secrets } from '../../../src/server/secrets/secrets.ts'
import { defineSession, type Session } from '../../../src/server/secrets/define-session.ts'
import { CookieSizeError } from '../../../src/server/secrets/sealed-cookie.ts'
import { browserJar, type BrowserJar } from './browser-jar.ts'

const KEYS = ['a key for these tests, long enough']
const DAY = 86_400

let nowMs = 0
let secrets: Secrets
let browser: BrowserJar
beforeEach(() => {
  nowMs = 1_750_000_000_000
  secrets = createSecrets(KEYS, () => nowMs)
  browser = browserJar(secrets)
})

const clock = (): number => nowMs
const schema = z.object({ user: z.string(), role: z.enum(['guest', 'admin']) })
const sessions = defineSession({ schema, maxAgeSeconds: 10 * DAY }, clock)

/** One request of the browser, and its answer taken. */
async function visit<Result>(
  work: (session: Awaited<ReturnType<typeof sessions.open>>) => Result | Promise<Result>,
  kind = sessions,
): Promise<{ result: Result; setCookie: string[] }> {
  const context = browser.request()
  const result = await work(await kind.open(context))
  browser.receive(context)
  return { result, setCookie: context.headers.getSetCookie() }
}

const mill = { user: 'mill', role: 'admin' } as const

describe('a session', () => {
  test('is there on the next request', async () => {
    expect((await visit(({ data }) => data)).result).toBeUndefined()
    await visit((session) => session.set(mill))
    expect((await visit(({ data }) => data)).result).toEqual(mill)
  })

  test('is a cookie that only this host gets, only over HTTPS, and no script', async () => {
    const { setCookie } = await visit((session) => session.set(mill))
    expect(setCookie).toEqual([
      expect.stringMatching(/^__Host-session=[\w.-]+; Max-Age=864000; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
    expect(Buffer.from(setCookie.join().replaceAll('.', ''), 'base64url').toString('latin1')).not.toContain('mill')
  })

  test('is seen by everybody in the request that sets it, as the next request will see it', async () => {
    const context = browser.request()
    const action = await sessions.open(context)
    const loader = await sessions.open(context)
    await action.set({ ...mill, extra: 'not in the schema' } as typeof mill)
    expect(loader.data).toEqual(mill)
  })

  test('that is read writes nothing', async () => {
    await visit((session) => session.set(mill))
    nowMs += 9 * DAY * 1_000
    const { setCookie } = await visit((session) => [session.data, session.takeFlash()])
    expect(setCookie).toEqual([])
  })

  test('is over when its age is', async () => {
    await visit((session) => session.set(mill))
    nowMs += 10 * DAY * 1_000 - 1
    expect((await visit(({ data }) => data)).result).toEqual(mill)
    nowMs += 1
    expect((await visit(({ data }) => data)).result).toBeUndefined()
  })

  test('ends with clear()', async () => {
    await visit((session) => session.set(mill))
    const { setCookie, result } = await visit((session) => {
      session.clear()
      return session.data
    })
    expect(result).toBeUndefined()
    expect(setCookie).toEqual(['__Host-session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax'])
    expect(browser.cookies.size).toBe(0)
  })

  test('of another kind is another cookie, and neither can be passed off as the other', async () => {
    const carts = defineSession({ name: 'cart', schema }, clock)
    await visit((session) => session.set(mill), carts)
    expect([...browser.cookies.keys()]).toEqual(['__Host-cart'])
    browser.cookies.set('__Host-session', browser.cookies.get('__Host-cart') ?? '')
    expect((await visit(({ data }) => data)).result).toBeUndefined()
    expect((await visit(({ data }) => data, carts)).result).toEqual(mill)
  })

  test('is typed by its schema', () => {
    type Opened = Awaited<ReturnType<typeof sessions.open>>
    expectTypeOf<Opened['data']>().toEqualTypeOf<Readonly<z.infer<typeof schema>> | undefined>()
  })
})

describe('one answer', () => {
  test('has one cookie however often the session changes', async () => {
    const { setCookie } = await visit(async (session) => {
      await session.set({ user: 'first', role: 'guest' })
      session.clear()
      await session.set(mill)
    })
    expect(setCookie).toHaveLength(1)
    expect((await visit(({ data }) => data)).result).toEqual(mill)
  })

  test('keeps the cookies of others', async () => {
    const context = browser.request()
    context.headers.append('Set-Cookie', 'theme=dark; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT')
    context.headers.append('Set-Cookie', '__Host-session2=other; Path=/; Secure')
    const session = await sessions.open(context)
    await session.set(mill)
    session.clear()
    expect(context.headers.getSetCookie()).toEqual([
      'theme=dark; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
      '__Host-session2=other; Path=/; Secure',
      expect.stringMatching(/^__Host-session=; Max-Age=0/),
    ])
  })

  test('carries the change that was begun last, whichever is encrypted first', async () => {
    const waiting: (() => void)[] = []
    const slow: Secrets = {
      ...secrets,
      encrypt: async (...args) => {
        await new Promise<void>((resolve) => waiting.push(resolve))
        return secrets.encrypt(...args)
      },
    }
    const context = { ...browser.request(), secrets: slow }
    const session = await sessions.open(context)
    const early = session.set({ user: 'early', role: 'guest' })
    const late = session.set(mill)
    await expect.poll(() => waiting.length).toBe(2)
    waiting[1]?.()
    await late
    waiting[0]?.()
    await early
    expect(session.data).toEqual(mill)
    browser.receive(context)
    expect((await visit(({ data }) => data)).result).toEqual(mill)
  })

  test('signs out for good when a change is still on its way', async () => {
    await visit((session) => session.set(mill))
    const { result, setCookie } = await visit(async (session) => {
      const change = session.set(mill)
      session.clear()
      await change
      return session.data
    })
    expect(result).toBeUndefined()
    expect(setCookie).toEqual([expect.stringMatching(/^__Host-session=; Max-Age=0/)])
  })
})

describe('what is no session', () => {
  const stolen = async (): Promise<string> => {
    await visit((session) => session.set(mill))
    return browser.cookies.get('__Host-session') ?? ''
  }

  test('a cookie with any bit changed', async () => {
    const text = await stolen()
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.nat(5), async (at, bit) => {
        const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
        const index = letters.indexOf(text.charAt(at))
        const other = index < 0 ? '-' : letters.charAt(index ^ (1 << bit))
        browser.cookies.set('__Host-session', text.slice(0, at) + other + text.slice(at + 1))
        expect((await visit(({ data }) => data)).result).toBeUndefined()
      }),
    )
  })

  test('a cookie of anything at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (main, flash) => {
        browser.cookies.set('__Host-session', main)
        browser.cookies.set('__Host-session.flash', flash)
        const { result } = await visit((session) => [session.data, session.takeFlash()])
        expect(result).toEqual([undefined, undefined])
      }),
    )
  })

  test('data that the schema of a later version refuses', async () => {
    await stolen()
    const later = defineSession({ schema: schema.extend({ team: z.string() }) }, clock)
    nowMs += 9 * DAY * 1_000
    const { result, setCookie } = await visit(async (session) => {
      await session.renew()
      return session.data
    }, later as never)
    expect(result).toBeUndefined()
    expect(setCookie).toEqual([])
  })

  test('the cookie of a server with other keys', async () => {
    const text = await stolen()
    const elsewhere = browserJar(createSecrets(['another key for these tests, as long'], clock))
    elsewhere.cookies.set('__Host-session', text)
    expect((await sessions.open(elsewhere.request())).data).toBeUndefined()
  })

  test('a request without a cookie, which needs no key', async () => {
    const locked = openSecrets({ secretKeys: [''], dataDir: '' }, { warn: () => undefined })
    const session = await sessions.open(browserJar(locked).request())
    expect([session.data, session.takeFlash()]).toEqual([undefined, undefined])
  })
})

describe('what cannot be kept', () => {
  test('is refused with the size that it would have, and the session stays as it was', async () => {
    await visit((session) => session.set(mill))
    const { result, setCookie } = await visit(async (session) => {
      const error: unknown = await session.set({ user: 'x'.repeat(4_000), role: 'guest' }).catch((reason) => reason)
      return { error, data: session.data }
    })
    expect(result.error).toBeInstanceOf(CookieSizeError)
    expect(result.error).toMatchObject({ cookie: '__Host-session', limit: 4_096, actual: expect.any(Number) as number })
    expect((result.error as CookieSizeError).message).toMatch(/__Host-session would have 5\d\d\d bytes.*4096/)
    expect(result.data).toEqual(mill)
    expect(setCookie).toEqual([])
  })

  test('begins one byte behind what fits', async () => {
    const lengthOf = async (length: number): Promise<number> =>
      (await visit((session) => session.set({ user: 'x'.repeat(length), role: 'guest' }))).setCookie.join().length
    // Three bytes of data are four of the cookie.
    let fits = 2_850
    while (await lengthOf(fits + 1).catch(() => undefined)) fits++
    expect(await lengthOf(fits)).toBeGreaterThan(4_092)
    expect(await lengthOf(fits)).toBeLessThanOrEqual(4_096)
    expect((await visit(({ data }) => data?.user.length)).result).toBe(fits)
  })

  test.for([
    ['a value of another type', { user: 7, role: 'admin' }, /__Host-session.*user: /],
    ['nothing', undefined, /clear\(\)/],
    ['what JSON cannot say', { user: 1n, role: 'admin' }, /BigInt/i],
  ] as const)('%s is refused', async ([, data, message]) => {
    const { result } = await visit((session) => session.set(data as never).catch((reason: unknown) => reason))
    expect(result).toBeInstanceOf(TypeError)
    expect((result as TypeError).message).toMatch(message)
  })

  test('a date is refused where the schema would refuse it on reading, and taken where it would be taken', async () => {
    const strict = defineSession({ name: 'strict', schema: z.object({ at: z.date() }) }, clock)
    const lenient = defineSession({ name: 'lenient', schema: z.object({ at: z.coerce.date() }) }, clock)
    const at = new Date(1_000)
    await expect((await strict.open(browser.request())).set({ at })).rejects.toThrow(/strict.*at: /)
    const context = browser.request()
    await (await lenient.open(context)).set({ at })
    browser.receive(context)
    expect((await lenient.open(browser.request())).data).toEqual({ at })
  })

  test('does no harm where nobody awaits it', async () => {
    const refused: unknown[] = []
    const note = (reason: unknown): void => void refused.push(reason)
    process.on('unhandledRejection', note)
    // Fails without leaving the microtasks, so that the process would know of it before the next turn.
    const context = { ...browser.request(), secrets: { ...secrets, encrypt: async () => 'x'.repeat(5_000) } }
    try {
      const session = await sessions.open(context)
      void session.set(mill)
      void session.flash('Saved')
      await new Promise((resolve) => setImmediate(resolve))
    } finally {
      process.off('unhandledRejection', note)
    }
    expect(refused).toEqual([])
  })
})

describe('renew()', () => {
  const renew = async (): Promise<string[]> => (await visit((session) => session.renew())).setCookie

  test('writes once more than half of the age is over, and the session lasts from then on', async () => {
    await visit((session) => session.set(mill))
    nowMs += 5 * DAY * 1_000
    expect(await renew()).toEqual([])
    nowMs += 1
    expect(await renew()).toHaveLength(1)
    expect(await renew()).toEqual([])
    nowMs += 9 * DAY * 1_000
    expect((await visit(({ data }) => data)).result).toEqual(mill)
  })

  test('begins no session', async () => {
    expect(await renew()).toEqual([])
  })

  test('moves a session to the newest key', async () => {
    await visit((session) => session.set(mill))
    nowMs += 6 * DAY * 1_000
    const rotated = createSecrets(['the next key for these tests, as long', ...KEYS], clock)
    const after = browserJar(rotated)
    after.cookies.set('__Host-session', browser.cookies.get('__Host-session') ?? '')
    const context = after.request()
    await (await sessions.open(context)).renew()
    after.receive(context)

    const retired = browserJar(createSecrets(['the next key for these tests, as long'], clock))
    retired.cookies.set('__Host-session', after.cookies.get('__Host-session') ?? '')
    expect((await sessions.open(retired.request())).data).toEqual(mill)
  })
})

describe('a flash message', () => {
  test('is for the next page, once', async () => {
    await visit((session) => session.flash('Saved “Mühle” 🌾'))
    expect((await visit((session) => session.takeFlash())).result).toBe('Saved “Mühle” 🌾')
    expect((await visit((session) => session.takeFlash())).result).toBeUndefined()
  })

  test('is taken once in one answer', async () => {
    await visit((session) => session.flash('Saved'))
    const { result } = await visit((session) => [session.takeFlash(), session.takeFlash()])
    expect(result).toEqual(['Saved', undefined])
  })

  test('can be taken in the answer that leaves it, and is then gone', async () => {
    const context = browser.request()
    await (await sessions.open(context)).flash('Saved')
    expect((await sessions.open(context)).takeFlash()).toBe('Saved')
    browser.receive(context)
    expect(browser.cookies.size).toBe(0)
  })

  test('needs no session, and outlives its end', async () => {
    await visit((session) => session.set(mill))
    await visit(async (session) => {
      await session.flash('You have signed out')
      session.clear()
    })
    expect((await visit((session) => [session.data, session.takeFlash()])).result).toEqual([
      undefined,
      'You have signed out',
    ])
  })

  test.for([
    ['ends', (session: Session<z.output<typeof schema>>) => session.clear()],
    ['begins', (session: Session<z.output<typeof schema>>) => session.set(mill)],
  ] as const)('of an earlier request is gone when a session %s: another user is not to see it', async ([, change]) => {
    await visit((session) => session.flash('Your result is here'))
    await visit(change)
    expect((await visit((session) => session.takeFlash())).result).toBeUndefined()
    await visit((session) => session.flash('Saved'))
    await visit((session) => session.renew())
    expect((await visit((session) => session.takeFlash())).result).toBe('Saved')
  })

  test('waits for a page that is shown: a page fetched ahead does not take it', async () => {
    await visit((session) => session.flash('Saved'))
    const ahead = browser.request({ prefetch: true })
    expect((await sessions.open(ahead)).takeFlash()).toBeUndefined()
    browser.receive(ahead)
    expect((await visit((session) => session.takeFlash())).result).toBe('Saved')
  })

  test('that is taken by an answer under way does not bring a session back that was ended meanwhile', async () => {
    await visit(async (session) => {
      await session.set(mill)
      await session.flash('Welcome')
    })
    const slow = browser.request()
    const session = await sessions.open(slow)
    expect(session.takeFlash()).toBe('Welcome')
    await visit((other) => other.clear())
    browser.receive(slow)
    expect((await visit(({ data }) => data)).result).toBeUndefined()
  })

  test('is forgotten after five minutes', async () => {
    const { setCookie } = await visit((session) => session.flash('Saved'))
    expect(setCookie).toEqual([expect.stringMatching(/^__Host-session\.flash=.*; Max-Age=300;/)])
    nowMs += 300_000
    expect((await visit((session) => session.takeFlash())).result).toBeUndefined()
  })

  test('that is too long is refused', async () => {
    const { result } = await visit((session) => session.flash('x'.repeat(4_000)).catch((reason: unknown) => reason))
    expect(result).toBeInstanceOf(CookieSizeError)
  })
})
