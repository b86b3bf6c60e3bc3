/** What was known and left: odd calls that authors and visitors make. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { redirect } from '../../src/shared/control-flow.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'

describe('health', () => {
  test.for(['/healthz', '/healthz?x', '/healthz?', '/healthz?x=%zz'])('%s answers for any host', async (path) => {
    const { app } = tinyApp({ routes: {}, environment: { ORIGIN: 'https://good.test' } })
    for (const host of ['evil.test', '10.0.0.7:3000', '[::1]'])
      await request(app).get(path).set('Host', host).expect(200)
    await request(app).get('/?x').set('Host', 'evil.test').expect(400)
  })
})

describe('redirect() with a status that is none', () => {
  const wrong = (): never => redirect('/there', 200 as never)

  test('says which there are', () => {
    for (const status of [200, 300, 304, 305, 399, 404, '302', NaN]) {
      expect(() => redirect('/', status as never)).toThrow(
        `redirect() takes 301, 302, 303, 307, 308 as its status, and not ${String(status)}`,
      )
    }
  })

  test('is a failure of the loader, handler or component, and never an answer', async () => {
    const { app, logs } = tinyApp({
      routes: {
        '/loader': { page: page(() => <p>x</p>), loader: moduleOf({ loader: wrong }) },
        '/handler': { handler: moduleOf({ GET: wrong }) },
        '/component': { page: page(wrong) },
      },
    })
    for (const path of ['/loader', '/handler', '/component']) {
      const answer = await request(app).get(path)
      expect([answer.status, answer.headers['location']]).toEqual([500, undefined])
    }
    expect(JSON.stringify(logs)).toContain('redirect() takes 301')
  })
})

async function actionApp() {
  const ran: unknown[] = []
  const actions = {
    save: action({ handler: ({ input }) => void ran.push(input) }),
    list: action({ input: z.object({ items: z.array(z.string()) }), handler: ({ input }) => void ran.push(input) }),
  }
  const { app } = tinyApp({
    routes: {
      '/': { page: page(() => <p>x</p>) },
      '/hook': {
        handler: moduleOf({
          GET: () => (ran.push('GET'), new Response('got')),
          POST: () => (ran.push('POST'), new Response('posted')),
        }),
      },
    },
    actions: { [MODULE]: actions },
  })
  return { app, ran }
}

test('a form that is sent to a handler is refused: its action runs on pages, and the handler never meets a GET', async () => {
  const { app, ran } = await actionApp()
  const id = actionId(MODULE, 'save')
  await request(app).post(`/hook?_action=${id}.1`).type('form').send('a=1').expect(404)
  await request(app).post(`/_m/data/hook?_action=${id}`).set('X-Millrace-Build', 'development').send({ input: {} })
  expect(ran).toEqual([])
  await request(app).post('/hook').type('form').send('a=1').expect(200, 'posted')
})

test.for([
  ['49,000 items that do not fit a schema without a bound are invalid input', 49_000, 422],
  ['200,000 are more values than a body may have', 200_000, 413],
] as const)('%s, and no failure', async ([, count, status]) => {
  const { app, ran } = await actionApp()
  const answer = await request(app)
    .post(`/_m/data/?_action=${actionId(MODULE, 'list')}`)
    .set({ 'X-Millrace-Build': 'development', 'Content-Type': 'application/json' })
    .send(`{"input":{"items":[${'1,'.repeat(count - 1)}1]}}`)
  expect([answer.status, ran]).toEqual([status, []])
})
