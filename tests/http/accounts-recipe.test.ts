/** The accounts of the handbook's chapter: passwords, reset by mail, OAuth and roles, against stand-ins. */
import { createServer, type Server } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { once } from 'node:events'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { hashPassword, isPassword } from '../fixtures/accounts-app/accounts/passwords.server.ts'
import { usersIn, type User } from '../fixtures/accounts-app/accounts/users.server.ts'
import application from '../fixtures/accounts-app/app.ts'
import * as signInActions from '../fixtures/accounts-app/sign-in/actions.server.ts'
import { freePort } from '../support/free-ports.ts'
import { filledForm, formIn } from '../support/html-forms.ts'
import { startOpenid, type OpenidProvider } from '../support/openid-provider.ts'
import { startSmtp, type SmtpServer } from '../support/smtp-server.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { createVisitor, type Visitor } from 'millrace/testing'

/** Password and options of each hash. The tests hash at a fraction of the cost. `held`: called in front of the next one, which waits. */
const { costs, held } = vi.hoisted(() => ({
  costs: [] as { password: unknown; N: number; r: number; p: number }[],
  held: [] as (() => Promise<void>)[],
}))
vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:crypto')>()
  const scrypt = (...[password, salt, length, options, done]: Parameters<typeof original.scrypt>) => {
    costs.push({ ...(options as (typeof costs)[number]), password })
    const begin = () => original.scrypt(password, salt, length, { ...options, N: 2 ** 10 }, done)
    const wait = held.shift()
    if (wait === undefined) begin()
    else void wait().then(begin)
  }
  return { ...original, default: original, scrypt }
})

/** Ends the delays after requests for a reset mail, which only these have. By default they take no time. */
const { delays } = vi.hoisted(() => ({ delays: { areHeld: false, held: [] as { ms: number; end: () => void }[] } }))
vi.mock('node:timers/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:timers/promises')>()
  const setTimeout = (ms = 0, value?: unknown, options?: object): Promise<unknown> => {
    if (ms < 1_000 || ms >= 5_000) return original.setTimeout(ms, value, options)
    return new Promise<unknown>((end) =>
      delays.areHeld ? delays.held.push({ ms, end: () => end(value) }) : end(value),
    )
  }
  return { ...original, default: original, setTimeout }
})

const PASSWORD = 'correct horse battery'
let folder: TempDir
let smtp: SmtpServer
let provider: OpenidProvider
let origin: string
let server: Server
let stop: () => Promise<void>

beforeEach(async () => {
  folder = await makeTempDir('accounts')
  smtp = await startSmtp()
  provider = await startOpenid()
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const app = createApp({
    app: application,
    config: readConfig({ DATA_DIR: folder.path, TRUST_PROXY: '127.0.0.1', ORIGIN: origin }),
    log: pino({ level: 'silent' }),
    actions: { 'sign-in/actions.server.ts': signInActions },
  })
  server = createServer(app).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const environment = {
    SMTP_URL: smtp.url,
    ORIGIN: origin,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'mills',
    OIDC_CLIENT_SECRET: 'secret',
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    app.dispose()
  }
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await stop()
  await smtp[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
  await folder.remove()
})

/** A visitor who is the only one with this address. */
const visitorFrom = (address: string): Visitor =>
  createVisitor(origin, { headers: { 'X-Forwarded-For': `203.0.113.${address}` } })
/** Somebody with a password, for whom nobody else has to wait. */
const asker = (client = 'one', signal = new AbortController().signal) => ({ client, signal })
const addUser = async (email: string, role: User['role'] = 'member'): Promise<User> =>
  usersIn({ dataDir: folder.path }).add(email, await hashPassword(asker(), PASSWORD), role)
const who = async (visitor: Visitor): Promise<string | undefined> =>
  (await visitor.get('/')).text('[data-testid="who"]')
async function signIn(visitor: Visitor, email: string, password = PASSWORD) {
  return visitor.submit(await visitor.get('/sign-in'), '#sign-in', { email, password })
}

describe('signing in with a password', () => {
  test('works without JavaScript, in any spelling of the address', async () => {
    await addUser('Ann@example.com')
    const visitor = createVisitor(origin)
    const page = await signIn(visitor, 'ann@EXAMPLE.com')
    expect([page.status, page.url, page.text('[data-testid="who"]')]).toEqual([200, '/', 'ann@example.com member'])
  })

  test('says the same of a wrong password, of no account, and of an account without a password', async () => {
    await addUser('ann@example.com')
    usersIn({ dataDir: folder.path }).add('oauth@example.com', null)
    for (const email of ['ann@example.com', 'nobody@example.com', 'oauth@example.com']) {
      const page = await signIn(createVisitor(origin), email, 'wrong password')
      expect([page.status, page.text('[role="alert"]')]).toEqual([422, 'Address or password is wrong.'])
      expect([page.html.includes(email), page.html.includes('wrong password')]).toEqual([true, false])
      expect(page.setCookies).toEqual([])
    }
  })

  test('is limited for an account and for a client, also with the right password', async () => {
    await addUser('ann@example.com')
    const visitor = createVisitor(origin)
    for (let count = 0; count < 10; count += 1) await signIn(visitor, 'ann@example.com', 'x')
    const page = await signIn(visitor, 'ann@example.com')
    expect(page.html).toContain('Too many attempts.')
    for (let count = 0; count < 9; count += 1) await signIn(visitor, `bot${count}@example.com`, 'x')
    expect((await signIn(visitor, 'other@example.com')).html).toContain('Too many attempts.')
  })

  test('bounds what it hashes, and hashes two at once, in turns of clients', async () => {
    const page = await signIn(createVisitor(origin), 'ann@example.com', 'x'.repeat(201))
    expect(page.status).toBe(422)
    costs.length = 0
    const hash = (client: string): Promise<string> =>
      hashPassword(asker(client), client).catch(({ name }: Error) => `${name} of ${client}`)
    const done = Promise.all([...Array.from({ length: 8 }, () => 'greedy'), 'other'].map(hash))
    expect(costs).toHaveLength(2)
    expect((await done).filter((one) => one.startsWith('Unavail'))).toEqual(['UnavailableError of greedy'])
    const begun = ['greedy', 'greedy', 'greedy', 'other', 'greedy', 'greedy', 'greedy', 'greedy']
    expect(costs.map(({ password }) => password)).toEqual(begun)
    expect(costs.at(-1)).toMatchObject({ N: 131_072, r: 8, p: 1 })
    // Each has five that wait, but for the first, two of whose are hashed at once.
    const clients = Array.from({ length: 205 }, (_, n) => String(Math.floor(n / 5)))
    const ends = await Promise.all(clients.map(hash))
    expect(ends.filter((one) => one.startsWith('Unavail'))).toEqual([1, 2, 3].map(() => 'UnavailableError of 40'))
  })

  test('hashes nothing of those who have left, and lets others in', async () => {
    await addUser('ann@example.com')
    const before = costs.length
    const gate = Promise.withResolvers<undefined>()
    held.push(...[1, 2].map(() => () => gate.promise))
    const stranger = visitorFrom('1')
    onTestFinished(() => gate.resolve(undefined))
    let left = 0
    server.on('request', (_req, res) => res.once('close', () => (left += res.writableFinished ? 0 : 1)))
    const pages = await Promise.all(Array.from({ length: 8 }, () => stranger.get('/sign-in')))
    const leaving = new AbortController()
    const attempts = pages.map(({ html }) => {
      const { action, type, body } = filledForm(formIn(html, 'sign-in'), { email: 'ann@example.com', password: 'x' })
      return stranger.fetch(action, { method: 'POST', headers: { 'Content-Type': type }, body, signal: leaving.signal })
    })
    for (const attempt of attempts) attempt.catch(() => undefined)
    // Two are being hashed, five wait, and one is refused.
    expect((await Promise.any(attempts)).status).toBe(503)
    leaving.abort()
    await expect.poll(() => left).toBe(7)
    gate.resolve(undefined)
    expect((await signIn(visitorFrom('2'), 'ann@example.com')).url).toBe('/')
    expect(costs.length - before).toBe(3)
  })

  test('knows its passwords by a salted hash', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => hashPassword(asker(), PASSWORD)))
    expect(one).not.toBe(other)
    const tries = [isPassword(asker(), PASSWORD, one), isPassword(asker(), 'x', one), isPassword(asker(), PASSWORD)]
    expect(await Promise.all(tries)).toEqual([true, false, false])
  })
})

describe('a new password by mail', () => {
  const ask = async (email: string, visitor = createVisitor(origin)) => {
    return visitor.submit(await visitor.get('/sign-in'), '#ask-reset', { email })
  }
  const linkOf = (text: string): string => /\/reset\?token=[\w-]+/.exec(text)?.[0] ?? ''

  test('is set by a link that works once, and ends all sessions of the user', async () => {
    await addUser('ann@example.com')
    const signedIn = createVisitor(origin)
    await signIn(signedIn, 'ann@example.com')
    await ask('ann@example.com')
    const mail = await smtp.nextMail()
    expect(mail.to).toEqual(['ann@example.com'])
    const link = linkOf(mail.text)
    expect(mail.text).toContain(`${origin}${link}`)
    const rows = new DatabaseSync(join(folder.path, 'users.sqlite')).prepare('SELECT * FROM resets').all()
    expect(JSON.stringify(rows)).not.toContain(link.split('=')[1])

    // Programs that look at links in mails do not use it up.
    for (const _ of [1, 2]) expect((await createVisitor(origin).get(link)).status).toBe(200)
    const visitor = createVisitor(origin)
    const short = await visitor.submit(await visitor.get(link), '#reset', { password: 'short' })
    expect([short.status, short.html.includes('Use ten characters or more.')]).toEqual([422, true])
    const done = await visitor.submit(await visitor.get(link), '#reset', { password: 'another long one' })
    expect([done.url, done.text('[data-testid="who"]')]).toEqual(['/', 'ann@example.com member'])
    expect(await who(signedIn)).toBe('nobody')
    const later = createVisitor(origin)
    expect((await signIn(later, 'ann@example.com')).html).toContain('is wrong')
    expect((await signIn(later, 'ann@example.com', 'another long one')).text('[data-testid="who"]')).toBe(
      'ann@example.com member',
    )
    const again = await visitor.submit(await visitor.get(link), '#reset', { password: 'a third long one' })
    expect(again.html).toContain('was used or is too old')
  })

  test('leaves no session of the old one, which was being checked meanwhile', async () => {
    const user = await addUser('ann@example.com')
    const [visitor, thief] = [createVisitor(origin), createVisitor(origin)]
    const token = usersIn({ dataDir: folder.path }).startReset(user, Date.now())
    held.push(async () => {
      const page = await visitor.get(`/reset?token=${token}`)
      expect((await visitor.submit(page, '#reset', { password: 'another long one' })).url).toBe('/')
    })
    expect((await signIn(thief, 'ann@example.com')).html).toContain('is wrong')
    expect(held).toEqual([])
    expect(await who(thief)).toBe('nobody')
  })

  test('gets the owner in, whatever strangers have tried', async () => {
    await addUser('ann@example.com')
    for (let client = 1; client <= 12; client += 1) {
      const stranger = visitorFrom(String(client))
      await signIn(stranger, 'ann@example.com', 'x')
      expect((await ask('ann@example.com', stranger)).html).toContain('a mail is on its way')
    }
    expect((await signIn(createVisitor(origin), 'ann@example.com')).html).toContain('Too many attempts.')
    await expect.poll(() => smtp.count).toBe(5)
    const first = linkOf((await smtp.nextMail()).text)
    let last = ''
    for (let count = 1; count < 5; count += 1) last = linkOf((await smtp.nextMail()).text)
    const [owner, later] = [createVisitor(origin), createVisitor(origin)]
    await owner.submit(await owner.get(first), '#reset', { password: 'another long one' })
    expect(await who(owner)).toBe('ann@example.com member')
    const again = await later.submit(await later.get(last), '#reset', { password: 'a third long one' })
    expect(again.html).toContain('was used or is too old')
  })

  test('costs no hash for a token that does not work, and counts as an attempt to sign in', async () => {
    const user = await addUser('ann@example.com')
    const old = usersIn({ dataDir: folder.path }).startReset(user, Date.now() - 31 * 60_000)
    const before = costs.length
    const visitor = createVisitor(origin)
    for (let count = 0; count < 20; count += 1) {
      const page = await visitor.get(`/reset?token=${count === 0 ? old : 'x'}`)
      const refused = await visitor.submit(page, '#reset', { password: 'another long one' })
      expect(refused.html).toContain('was used or is too old')
    }
    expect(costs.length).toBe(before)
    for (const page of [await ask('ann@example.com'), await signIn(visitor, 'ann@example.com')]) {
      expect(page.html).toContain('Too many attempts.')
    }
  })

  test('says the same for an address without an account, and sends nothing there', async () => {
    await addUser('ann@example.com')
    const [known, unknown] = [await ask('ann@example.com'), await ask('nobody@example.com')]
    const said = 'If there is an account, a mail is on its way.'
    for (const page of [known, unknown]) expect([page.status, page.html.includes(said)]).toEqual([200, true])
    await smtp.nextMail()
    expect(smtp.count).toBe(1)
  })

  test('begins a random time after the answer, and reads and writes nothing of any account before', async () => {
    await addUser('ann@example.com')
    const { prototype } = usersIn({ dataDir: folder.path }).constructor as { prototype: ReturnType<typeof usersIn> }
    const spies = [vi.spyOn(prototype, 'byEmail'), vi.spyOn(prototype, 'startReset')]
    delays.areHeld = true
    onTestFinished(() => {
      vi.restoreAllMocks()
      Object.assign(delays, { areHeld: false, held: [] })
    })
    for (const name of ['ann', 'nobody', 'ann', 'nobody']) await ask(`${name}@example.com`)
    await expect.poll(() => delays.held.length).toBe(4)
    expect([...spies.map(({ mock }) => mock.calls.length), smtp.count]).toEqual([0, 0, 0])
    expect(new Set(delays.held.map(({ ms }) => ms)).size).toBeGreaterThan(1)
    for (const { end } of delays.held) end()
    await expect.poll(() => smtp.count).toBe(2)
    expect(spies.map(({ mock }) => mock.calls.length)).toEqual([4, 2])
  })

  test('is refused by a link that is too old, that nobody sent, or after another link was used', async () => {
    const user = await addUser('ann@example.com')
    const users = usersIn({ dataDir: folder.path })
    const now = Date.now()
    const [first = '', second = '', old = ''] = [0, 0, 31].map((age) => users.startReset(user, now - age * 60_000))
    expect([users.finishReset(old, now), users.finishReset('x', now)]).toEqual([undefined, undefined])
    expect(users.finishReset(first, now)?.id).toBe(user.id)
    expect(users.finishReset(second, now)).toBeUndefined()
  })
})

describe('signing in by another service', () => {
  /** Follows the visitor's way to the provider and back. @returns the callback's URL, and the cookie of the start. */
  async function visitProvider(): Promise<{ callback: string; cookie: string }> {
    const start = await fetch(`${origin}/oauth/start`, { redirect: 'manual' })
    const cookie = start.headers.getSetCookie()[0] ?? ''
    expect(cookie).toMatch(/^__Host-oauth=[\w-]+\.[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    const away = new URL(start.headers.get('location') ?? '')
    expect(away.searchParams.get('code_challenge_method')).toBe('S256')
    const back = await fetch(away, { redirect: 'manual' })
    return { callback: back.headers.get('location') ?? '', cookie: cookie.split(';')[0] ?? '' }
  }
  const finish = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { Cookie: cookie } })
  const homeAs = async (answer: Response): Promise<string> => {
    const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0])
    return (await fetch(origin, { headers: { Cookie: cookies.join('; ') } })).text()
  }

  test('makes an account the first time, and finds it the second time, whatever the address is then', async () => {
    provider.user = { sub: '7', email: 'eve@example.com', email_verified: true }
    for (const _ of [1, 2]) {
      const { callback, cookie } = await visitProvider()
      const answer = await finish(callback, cookie)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
      expect(await homeAs(answer)).toContain('eve@example.com member')
      provider.user = { sub: '7', email: 'other@example.com', email_verified: true }
    }
  })

  test('never takes over an account with the same address, nor trusts one that was not verified', async () => {
    await addUser('ann@example.com', 'admin')
    for (const user of [
      { sub: '8', email: 'ann@example.com', email_verified: true },
      { sub: '9', email: 'bob@example.com', email_verified: false },
      { sub: '10' },
    ]) {
      provider.user = user
      const { callback, cookie } = await visitProvider()
      const answer = await finish(callback, cookie)
      expect(answer.headers.get('location')).toBe('/sign-in?oauth=known')
      expect((await createVisitor(origin).get('/sign-in?oauth=known')).html).toContain('Sign in with your password, or')
      expect(answer.headers.getSetCookie().join()).not.toContain('__Host-session=')
    }
  })

  test('refuses an answer of another browser, another state, and one that is used twice', async () => {
    provider.user = { sub: '7', email: 'eve@example.com', email_verified: true }
    const mallory = await visitProvider()
    const victim = await visitProvider()
    const failed = [303, '/sign-in?oauth=failed']
    // The victim follows Mallory's link, and would be signed in as Mallory.
    for (const cookie of [undefined, victim.cookie, '__Host-oauth=', '__Host-oauth=a.b.c']) {
      const answer = await finish(mallory.callback, cookie)
      expect([answer.status, answer.headers.get('location')]).toEqual(failed)
    }
    expect(provider.exchanged).toEqual([])
    expect((await finish(victim.callback, victim.cookie)).headers.get('location')).toBe('/')
    const twice = await finish(victim.callback, victim.cookie)
    expect([twice.status, twice.headers.get('location')]).toEqual(failed)
    const denied = await finish(`${origin}/oauth/callback?error=access_denied&state=x`, mallory.cookie)
    expect([denied.status, denied.headers.get('location')]).toEqual(failed)
  })

  test('asks the provider about made up answers of a client twenty times; images of other sites use up none', async () => {
    const asked: string[] = []
    provider.misbehave = (pathname) => {
      asked.push(pathname)
      return false
    }
    for (let n = 0; n < 22; n += 1) {
      await finish(`${origin}/oauth/callback?state=made&code=${n}`, n % 2 === 0 ? undefined : '__Host-oauth=other.up')
      const answer = await finish(`${origin}/oauth/callback?state=made&code=${n}`, '__Host-oauth=made.up')
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in?oauth=failed'])
      expect(answer.headers.getSetCookie().join()).toContain('__Host-oauth=; Max-Age=0')
    }
    expect(asked.filter((pathname) => pathname === '/token')).toHaveLength(20)
  })
})

describe('roles', () => {
  test('are read at each request: 401 without a user, 403 without the right, and a change counts at once', async () => {
    const user = await addUser('ann@example.com')
    const visitor = createVisitor(origin)
    expect((await visitor.get('/admin')).status).toBe(401)
    await signIn(visitor, 'ann@example.com')
    expect((await visitor.get('/admin')).status).toBe(403)
    const file = new DatabaseSync(join(folder.path, 'users.sqlite'))
    file.prepare('UPDATE users SET role = ? WHERE id = ?').run('admin', user.id)
    file.close()
    expect((await visitor.get('/admin')).status).toBe(200)
  })
})
