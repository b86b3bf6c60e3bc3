/** What authors are promised of `context.once`: one read in a request, whoever asks. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs, LoaderContext } from '../../src/server/api/loader-types.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const RENAME = actionId('actions.server.ts', 'rename')

/** A layout, a page and an action that all need the name of the same account. */
function accountApp() {
  const reads: string[] = []
  const account = { name: 'Ada' }
  const readName = (context: LoaderContext) =>
    context.once('name', async () => {
      await undefined
      reads.push(account.name)
      return account.name
    })
  const loader = async ({ context }: LoaderArgs) => ({ name: await readName(context) })
  const rename = action({
    async handler({ context }) {
      await readName(context)
      account.name = 'Grace'
    },
  })
  const { app } = tinyApp({
    routes: {
      '/': { layout: page(({ children }: { children: unknown }) => children), layoutLoader: moduleOf({ loader }) },
      '/me': {
        page: page(({ data }: { data: { name: string } }) => (
          <form action={rename as never}>
            <p>{`I am ${data.name}`}</p>
          </form>
        )),
        loader: moduleOf({ loader }),
      },
    } as never,
    actions: { 'actions.server.ts': { rename } },
  })
  return { app, reads }
}

test('the loaders of a document share one read, and the next request reads again', async () => {
  const { app, reads } = accountApp()
  await request(app)
    .get('/me')
    .expect(200, /I am Ada/)
  expect(reads).toEqual(['Ada'])
  await request(app).get('/me').expect(200)
  expect(reads).toEqual(['Ada', 'Ada'])
})

test('the loaders of route data share one read', async () => {
  const { app, reads } = accountApp()
  await request(app).get('/_m/data/me').expect(200)
  expect(reads).toEqual(['Ada'])
})

test('guards and the action share one read, and the fresh data after it another one: it shows what has changed', async () => {
  const { app, reads } = accountApp()
  const answer = await request(app)
    .post(`/_m/data/me?_action=${RENAME}`)
    .set('Content-Type', 'application/x-www-form-urlencoded')
    .buffer(true)
    .parse((res, done) => {
      let text = ''
      res.on('data', (chunk: Buffer) => (text += String(chunk)))
      res.on('end', () => done(null, text))
    })
    .send('')
  expect(reads).toEqual(['Ada', 'Grace'])
  expect(String(answer.body)).toContain('"name":"Grace"')
  expect(String(answer.body)).not.toContain('"name":"Ada"')
})

describe('within one request', () => {
  /** Runs this in a handler, and answers with what it returns. */
  async function inHandler(run: (context: LoaderContext) => unknown) {
    const { app } = tinyApp({
      routes: {
        '/run': { handler: moduleOf({ GET: async ({ context }: LoaderArgs) => Response.json(await run(context)) }) },
      } as never,
    })
    return (await request(app).get('/run').expect(200)).body as unknown
  }
  const messageOf = (thrown: unknown): string => (thrown as Error).message

  test('a failure reaches all that wait, and the next call reads again', async () => {
    let reads = 0
    const read = async () => {
      reads += 1
      if (reads === 1) throw new Error('down')
      return reads
    }
    const answer = await inHandler(async (context) => {
      const first = [context.once('x', read), context.once('x', read)]
      const failed = await Promise.all(first.map((value) => value.catch(messageOf)))
      return [...failed, await context.once('x', read), await context.once('x', read)]
    })
    expect(answer).toEqual(['down', 'down', 2, 2])
  })

  test('what throws at once is a rejection, and one that nobody awaits ends nothing', async () => {
    const answer = await inHandler(async (context) => {
      const read = (): never => {
        throw new Error('at once')
      }
      void context.once('unheard', read)
      return context.once('heard', read).catch(messageOf)
    })
    expect(answer).toBe('at once')
  })

  test('objects are keys by identity, beside strings', async () => {
    const answer = await inHandler(async (context) => {
      const [one, other] = [{}, {}]
      await context.once(one, () => 'one')
      await context.once(other, () => 'other')
      await context.once('[object Object]', () => 'text')
      return Promise.all([one, other, '[object Object]'].map((key) => context.once<string>(key, () => 'read again')))
    })
    expect(answer).toEqual(['one', 'other', 'text'])
  })

  test('what is read for all visitors cannot use it', async () => {
    const answer = await inHandler((context) =>
      context
        .cached('shared', { seconds: 60 }, () => context.once('mine', () => 'a visitor'))
        .catch((thrown: unknown) => (thrown as Error).name),
    )
    expect(answer).toBe('VisitorInCacheError')
  })
})
