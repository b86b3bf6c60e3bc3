/** What one client can use up of the limits in the handbook's chapter on accounts. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp } from 'millrace/testing'
import { hashPassword } from '../fixtures/accounts-app/accounts/passwords.server.ts'
import { usersIn } from '../fixtures/accounts-app/accounts/users.server.ts'
import application from '../fixtures/accounts-app/app.ts'

vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:crypto')>()
  const scrypt = (...[password, salt, length, options, done]: Parameters<typeof original.scrypt>) =>
    original.scrypt(password, salt, length, { ...options, N: 2 ** 10 }, done) // a fraction of the cost
  return { ...original, default: original, scrypt }
})

const PASSWORD = 'correct horse battery'

async function opened() {
  const app = createTestApp(application, { environment: { TRUST_PROXY: '127.0.0.1' } })
  onTestFinished(() => app.stop())
  const hashed = await hashPassword({ client: 'test', signal: new AbortController().signal }, PASSWORD)
  const addUser = (email: string) => usersIn(app).add(email, hashed)
  const signIn = async (client: number, email: string, password = PASSWORD) => {
    const visitor = app.visitor({ headers: { 'X-Forwarded-For': `203.0.113.${client}` } })
    const page = await (await visitor.get('/sign-in')).submit('#sign-in', { email, password })
    return page.url === '/' ? 'signed in' : page.text('[role="alert"]') || page.text('#sign-in [role="status"]')
  }
  return { addUser, signIn }
}

test('attempts that the limit of a client refuses use up no account', async () => {
  const { addUser, signIn } = await opened()
  for (const name of ['ann', 'bob']) addUser(`${name}@example.com`)
  const ends = []
  for (let count = 0; count < 20; count += 1) ends.push(await signIn(1, `stranger${count}@example.com`, 'x'))
  expect(new Set(ends)).toEqual(new Set(['Address or password is wrong.']))
  for (let count = 0; count < 10; count += 1) {
    for (const name of ['ann', 'bob']) {
      expect(await signIn(1, `${name}@example.com`, 'x')).toBe('Too many attempts. Try again later.')
    }
  }
  expect(await signIn(2, 'ann@example.com')).toBe('signed in')
  expect(await signIn(3, 'bob@example.com')).toBe('signed in')
})

test('a client uses up the attempts of two accounts at once, and of no third', async () => {
  const { addUser, signIn } = await opened()
  for (const name of ['ann', 'bob', 'cid']) {
    addUser(`${name}@example.com`)
    for (let count = 0; count < 10; count += 1) await signIn(1, `${name}@example.com`, 'x')
  }
  const owners = ['ann', 'bob', 'cid'].map((name, n) => signIn(n + 2, `${name}@example.com`))
  const late = 'Too many attempts. Try again later.'
  expect(await Promise.all(owners)).toEqual([late, late, 'signed in'])
})
