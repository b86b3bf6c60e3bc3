import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, type TestApp, type Visitor } from 'millrace/testing'
import { findProgram } from '../../support/programs.ts'
import { startPostgres, type PostgresServer } from '../../support/postgres-server.ts'
import { startPostgresWire } from '../../support/postgres-wire.ts'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'
import application from '../../fixtures/recipes/postgres/app.ts'
import { query, transaction } from '../../fixtures/recipes/postgres/database.server.ts'
import { inTurn } from '../../fixtures/recipes/postgres/turns.server.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const RECIPE = join(PROJECT, 'tests/fixtures/recipes/postgres')

test('the chapter shows what the tests below run', async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/postgres.md'), 'utf8'))
  const shown = blocks.flatMap(({ code }) => {
    const [line, path] = /^\/\/ src\/app\/(\S+)\n/.exec(code) ?? []
    return line === undefined || path === undefined ? [] : [{ path, code: code.slice(line.length) }]
  })
  expect(shown.map(({ path }) => path)).toHaveLength(6)
  for (const { path, code } of shown) expect(`${code}\n`).toBe(await readFile(join(RECIPE, path), 'utf8'))
})

/** A visitor of this address, and how to leave. */
function visitorAt(address: string) {
  const controller = new AbortController()
  return { signal: controller.signal, context: { address }, leave: () => controller.abort() }
}

/** The address of what is made for everybody. */
const NOBODY = ''

/** Work of this address that waits for its turn, or for `end`. */
function askedAt(address: string, begun: string[]) {
  const { leave, ...visitor } = visitorAt(address)
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const done = inTurn(address === NOBODY ? { signal: visitor.signal } : visitor, () => {
    begun.push(address)
    return promise
  })
  return { end, leave, done: Promise.allSettled([done]).then(([outcome]) => outcome) }
}

/** With the visitor's own signal: a form that is pressed again waits for this call, and runs again after such an end. */
const stopped = { status: 'rejected', reason: { name: 'AbortError' } }
const refused = { status: 'rejected', reason: { name: 'UnavailableError', retryAfter: 5 } }

describe('turns for connections', () => {
  test('one client has half of them, and clients that wait take turns', async () => {
    const begun: string[] = []
    const ask = (address: string, count: number) => Array.from({ length: count }, () => askedAt(address, begun))
    const [greedy, others] = [ask('192.0.2.1', 8), [...ask('192.0.2.2', 5), ...ask('192.0.2.3', 2)]]
    // The networks of IPv6 are clients, too.
    const late = ['2001:db8::1', '2001:db8::2', '192.0.2.4'].flatMap((address) => ask(address, 1))
    expect(begun).toEqual([...Array(5).fill('192.0.2.1'), ...Array(5).fill('192.0.2.2')])
    begun.length = 0
    for (const one of [...others, ...late, ...greedy]) {
      one.end()
      await one.done
    }
    expect(begun).toEqual([
      '192.0.2.3',
      '2001:db8::1',
      '192.0.2.4',
      '192.0.2.3',
      '2001:db8::2',
      ...Array(3).fill('192.0.2.1'),
    ])
  })

  test('what is more than a hundred of a client is refused, and who leaves makes room', async () => {
    const begun: string[] = []
    const many = Array.from({ length: 105 }, () => askedAt('192.0.2.1', begun))
    expect(await askedAt('192.0.2.1', begun).done).toMatchObject(refused)
    many[50]?.leave()
    expect(await many[50]?.done).toMatchObject(stopped)
    many.push(askedAt('192.0.2.1', begun))
    for (const { end } of many) end()
    await Promise.all(many.map(({ done }) => done))
    expect(begun).toHaveLength(105)
  })

  test('what is made for everybody leaves two connections to the others, and waits in any number', async () => {
    const begun: string[] = []
    const shared = Array.from({ length: 150 }, () => askedAt(NOBODY, begun))
    expect(begun).toHaveLength(8)
    const others = Array.from({ length: 3 }, () => askedAt('192.0.2.1', begun))
    expect(begun.slice(8)).toEqual(['192.0.2.1', '192.0.2.1'])
    others[0]?.end()
    await others[0]?.done
    expect(begun.slice(10)).toEqual(['192.0.2.1'])
    for (const { end } of [...others, ...shared]) end()
    await Promise.all([...others, ...shared].map(({ done }) => done))
    expect(begun).toHaveLength(153)
  })

  test('the turn of one who leaves at that moment, or after the turns of others, is not lost', async () => {
    const begun: string[] = []
    const many = Array.from({ length: 9 }, () => askedAt('192.0.2.1', begun))
    many[0]?.end()
    many[5]?.leave()
    await Promise.all([many[0]?.done, many[5]?.done])
    expect(begun).toHaveLength(6)
    many[7]?.leave()
    for (const index of [1, 2, 3]) many[index]?.end()
    await Promise.all([1, 2, 3].map((index) => many[index]?.done))
    expect(begun).toHaveLength(7)
    many.push(...Array.from({ length: 3 }, () => askedAt('192.0.2.1', begun)))
    expect(begun).toHaveLength(9)
    for (const { end } of many) end()
    await Promise.all(many.map(({ done }) => done))
    expect(begun).toHaveLength(10)
  })
})

const missing = (['initdb', 'postgres'] as const).filter((name) => findProgram(name) === undefined)

// Where PostgreSQL is not installed; REQUIRE_PROGRAMS=1 makes that a failure, in scripts/test.ts.
describe.skipIf(missing.length > 0)('an application on PostgreSQL', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  }, 60_000)
  afterAll(() => postgres[Symbol.asyncDispose]())

  /** The application on a database of its own, and a query beside it. */
  async function opened() {
    const name = `shop_${crypto.randomUUID().replaceAll('-', '')}`
    await sql(postgres.url, `CREATE DATABASE ${name}`)
    const url = new URL(name, `${postgres.url.slice(0, postgres.url.lastIndexOf('/'))}/`).href
    const wire = await startPostgresWire(url)
    onTestFinished(() => wire[Symbol.asyncDispose]())
    vi.stubEnv('DATABASE_URL', wire.url)
    const app = createTestApp(application)
    onTestFinished(() => app.stop())
    return { app, url, wire }
  }

  const accounts = async (app: TestApp): Promise<readonly string[]> =>
    (await app.visitor().get('/accounts')).all('li').map(({ text }) => text)

  const signedIn = async (app: TestApp, user: string): Promise<Visitor> => {
    const visitor = app.visitor()
    await (await visitor.get('/sign-in')).submit('form', { user })
    return visitor
  }

  const pay = async (app: TestApp, { from, ...values }: { from: string; to: string; cents: number }) =>
    (await (await signedIn(app, from)).get('/accounts')).submit('form', values)

  test('start makes the tables, once for all that start at the same time, and stop closes the pool', async () => {
    const { app, url } = await opened()
    const others = [createTestApp(application), createTestApp(application)]
    await Promise.all([app, ...others].map((one) => one.start()))
    expect(await accounts(app)).toEqual(['ada: 1000', 'grace: 0'])
    for (const other of others) await other.stop()
    await app.stop()
    const open = `SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
    await expect.poll(async () => (await sql(url, open))[0]?.['open'], { timeout: 10_000 }).toBe(0)
  })

  test('a start waits for the migrations of another instance for longer than statements may take', async () => {
    const { app, url } = await opened()
    await using other = await connected(url)
    await other.query('SELECT pg_advisory_lock(20261)')
    const held = other.query('SELECT pg_sleep(5.5), pg_advisory_unlock(20261)')
    await app.start()
    await held
    expect(await accounts(app)).toEqual(['ada: 1000', 'grace: 0'])
  }, 30_000)

  test('a transaction happens in whole or not at all', async () => {
    const { app } = await opened()
    expect((await pay(app, { from: 'ada', to: 'grace', cents: 300 })).text('output')).toBe('Paid.')
    expect((await pay(app, { from: 'ada', to: 'grace', cents: 701 })).text('output')).toBe('There is not enough money.')
    expect((await pay(app, { from: 'ada', to: `x'; DROP TABLE accounts; --`, cents: 1 })).text('output')).toMatch(
      /^Nobody/,
    )
    expect(await accounts(app)).toEqual(['ada: 700', 'grace: 300'])
    const many = await Promise.all(Array.from({ length: 12 }, () => pay(app, { from: 'ada', to: 'grace', cents: 100 })))
    expect(many.map((page) => page.text('output')).filter((text) => text === 'Paid.')).toHaveLength(7)
    expect(await accounts(app)).toEqual(['ada: 0', 'grace: 1000'])
  })

  test('visitors who have not signed in cannot pay, and users pay from their own account', async () => {
    const { app } = await opened()
    const payment = { to: 'ada', cents: 300 }
    expect((await (await app.visitor().get('/accounts')).submit('form', payment)).status).toBe(401)
    expect((await pay(app, { from: 'grace', ...payment })).text('output')).toBe('There is not enough money.')
    expect(await accounts(app)).toEqual(['ada: 1000', 'grace: 0'])
  })

  test('opposite payments at the same time are all made, and a text that no database holds is refused', async () => {
    const { app } = await opened()
    expect((await pay(app, { from: 'ada', to: 'grace', cents: 500 })).text('output')).toBe('Paid.')
    const ways = [
      { from: 'ada', to: 'grace', cents: 1 },
      { from: 'grace', to: 'ada', cents: 1 },
    ]
    const pages = await Promise.all(Array.from({ length: 8 }, () => ways.map((way) => pay(app, way))).flat())
    expect(pages.map((page) => page.text('output'))).toEqual(Array.from({ length: 16 }, () => 'Paid.'))
    expect((await pay(app, { from: 'ada', to: 'grace\0', cents: 1 })).status).toBe(422)
    expect(await accounts(app)).toEqual(['ada: 500', 'grace: 500'])
  })

  test('nothing runs for visitors who leave before a connection is free', async () => {
    const { app, url } = await opened()
    await app.start()
    await using other = await connected(url)
    await other.query('BEGIN; LOCK TABLE accounts')
    const [staying, leaving] = [visitorAt('192.0.2.100'), visitorAt('192.0.2.101')]
    const busy = Array.from({ length: 10 }, (_, n) => query(visitorAt(`192.0.2.${n}`), 'SELECT FROM accounts'))
    const insert = `INSERT INTO accounts VALUES ('left', 0)`
    const inserted = transaction(leaving, (client) => client.query(insert))
    const left = Promise.allSettled([query(leaving, insert), inserted])
    const stayed = query(staying, 'SELECT $1::int AS one', [1])
    leaving.leave()
    await other.query('COMMIT')
    await Promise.all(busy)
    expect(await left).toMatchObject([stopped, stopped])
    expect(await stayed).toEqual([{ one: 1 }])
    expect(await accounts(app)).toEqual(['ada: 1000', 'grace: 0'])
  })

  test('statements of one client that wait for something keep no other from the database', async () => {
    const { app, url } = await opened()
    await app.start()
    await using other = await connected(url)
    await other.query('BEGIN; LOCK TABLE accounts')
    const many = Array.from({ length: 100 }, () => query(visitorAt('192.0.2.1'), 'SELECT FROM accounts'))
    expect(await query(visitorAt('192.0.2.2'), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await other.query('COMMIT')
    await Promise.all(many)
  })

  test('a connection that breaks inside a transaction fails only this transaction', async () => {
    const { app, url } = await opened()
    await app.start()
    const work = transaction(visitorAt('192.0.2.1'), async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const ended = new Promise<void>((resolve) => client.once('end', resolve))
      await sql(url, `SELECT pg_terminate_backend(${rows[0]?.pid})`)
      await ended
      await client.query('SELECT 1')
    })
    await expect(work).rejects.toMatchObject({ name: 'UnavailableError' })
    expect(await accounts(app)).toEqual(['ada: 1000', 'grace: 0'])
  })

  test('connections that have gone silent are replaced, and what ran on them is told to be off', async () => {
    const { app, wire } = await opened()
    const visitor = await signedIn(app, 'ada')
    const pages = await Promise.all(Array.from({ length: 10 }, () => visitor.get('/accounts')))
    expect(pages.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    wire.silence()
    const during = await Promise.all([visitor.get('/accounts'), pages[0]?.submit('form', { to: 'grace', cents: 1 })])
    expect(during.map((page) => page?.status)).toEqual([503, 503])
    await expect.poll(async () => (await visitor.get('/status')).status, { timeout: 30_000 }).toBe(200)
    const after = await Promise.all(Array.from({ length: 10 }, () => visitor.get('/accounts')))
    expect(after.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(await accounts(app)).toEqual(['ada: 1000', 'grace: 0'])
  }, 60_000)

  test('locks of a transaction whose connection has gone silent are freed, and who waits for them gets 503', async () => {
    const { app, wire } = await opened()
    const page = await (await signedIn(app, 'ada')).get('/accounts')
    const silent = transaction(visitorAt('192.0.2.1'), async (client) => {
      await client.query(`SELECT FROM accounts WHERE name = 'ada' FOR UPDATE`)
      wire.silence()
      await client.query('SELECT 1')
    })
    const failure = silent.catch((thrown: unknown) => thrown)
    const status = async () => (await page.submit('form', { to: 'grace', cents: 1 })).status
    await expect.poll(status, { timeout: 30_000 }).toBe(503)
    expect(await failure).toMatchObject({ name: 'UnavailableError' })
    const paid = async () => (await page.submit('form', { to: 'grace', cents: 1 })).text('output')
    await expect.poll(paid, { timeout: 30_000 }).toBe('Paid.')
  }, 60_000)

  test('a payment whose outcome nobody knows is told as such, and not made again by the same form', async () => {
    const { app, wire } = await opened()
    const page = await (await signedIn(app, 'ada')).get('/accounts')
    wire.cutAfterCommit()
    for (const _ of [1, 2]) {
      const answer = await page.submit('form', { to: 'grace', cents: 100 })
      expect([answer.status, answer.text('output')]).toEqual([200, expect.stringMatching(/^The database did not say/)])
    }
    expect(await accounts(app)).toEqual(['ada: 900', 'grace: 100'])
  })

  test('while the database is down visitors get 503 and when to try again; afterwards all goes on', async () => {
    const { app } = await opened()
    const visitor = await signedIn(app, 'ada')
    const before = await visitor.get('/accounts')
    expect((await visitor.get('/status')).status).toBe(200)
    await postgres.stop()
    try {
      const page = await visitor.get('/accounts')
      expect([page.status, page.headers.get('retry-after'), page.text('h1')]).toEqual([
        503,
        '5',
        'Please try again in a moment',
      ])
      expect((await visitor.get('/status')).status).toBe(503)
      expect((await before.submit('form', { to: 'grace', cents: 1 })).status).toBe(503)
      expect(page.html).not.toContain('ECONNREFUSED')
      // Idle connections have ended as well, and the process goes on.
      expect(JSON.stringify(app.logs)).toContain('a connection to the database has ended')
    } finally {
      await postgres.start()
    }
    expect((await visitor.get('/status')).status).toBe(200)
    expect((await before.submit('form', { to: 'grace', cents: 1 })).text('output')).toBe('Paid.')
    expect(await accounts(app)).toEqual(['ada: 999', 'grace: 1'])
  })

  test('a server without its database does not start', async () => {
    vi.stubEnv('DATABASE_URL', `${postgres.url}_missing`)
    await using app = createTestApp(application)
    await expect(app.start()).rejects.toThrow('does not exist')
  })
})

async function connected(url: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

async function sql(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  await using client = await connected(url)
  return (await client.query<Record<string, unknown>>(text)).rows
}
