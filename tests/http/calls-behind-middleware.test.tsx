/** Middleware and hosts see the URL of a call alone: a redirect must not bring the data of a page that they would refuse. */
import type { RequestHandler } from 'express'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AppDefinition } from '../../src/server/api/define-app.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { redirect } from '../../src/shared/control-flow.ts'
import { openTestApp } from '../../src/testing/open-test-app.ts'
import { PlainDocument } from '../../src/testing/plain-document.ts'
import { fallbacks, moduleOf, page } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const shown = { page: page(() => <p>page</p>) }
const told = (text: string) =>
  moduleOf({ loader: ({ context }: LoaderArgs) => `${text} in ${String(context.locals['language'])}` })
const go = action({ handler: ({ input }) => redirect(String((input as { to: string }).to)) })

const guard: RequestHandler = (req, res, next) => {
  res.locals['language'] = req.path.startsWith('/de') ? 'de' : 'en'
  if (req.path.startsWith('/members')) res.status(401).send('no')
  else next()
}

function appWith(middleware: readonly RequestHandler[] | undefined, { isEmbedded = false } = {}) {
  const routes = {
    '/': { ...fallbacks('root'), ...shown, loader: told('home') },
    '/de': { ...shown, loader: told('home') },
    '/kept/[id]': { ...shown, loader: told('kept') },
    '/members': { ...shown, loader: told('secret-canary') },
  }
  const definition = { routes, document: PlainDocument, ...(middleware !== undefined && { middleware }) }
  const app = openTestApp(definition as AppDefinition, { actions: { [MODULE]: { go } }, isEmbedded } as never)
  onTestFinished(() => app.dispose())
  return app
}

async function call(app: Parameters<typeof request>[0], at: string, to: string) {
  const { status, body } = await request(app)
    .post(`/_m/data${at}?_action=${actionId(MODULE, 'go')}`)
    .set('Content-Type', 'application/json')
    .buffer(true)
    .parse((res, done) => {
      let text = ''
      res.on('data', (chunk: Buffer) => (text += String(chunk)))
      res.on('end', () => done(null, text))
    })
    .send({ input: { to } })
  const lines = String(body).split('\n').filter(Boolean)
  return { status, records: lines.map((line) => JSON.parse(line) as object) }
}

describe('a call whose redirect leads to another page', () => {
  test.for([
    ['middleware refuses', '/', '/members'],
    ['middleware refuses by another query', '/', '/members?x=1'],
    ['middleware sees differently', '/', '/de'],
    ['has another query', '/', '/?page=2'],
  ] as const)('that %s is answered without its data', async ([, at, to]) => {
    const { status, records } = await call(appWith([guard]), at, to)
    expect([status, records]).toEqual([200, [expect.objectContaining({ redirect: { to } }), { done: true }]])
    expect(records[0]).not.toHaveProperty('route')
  })

  test('is answered without its data in a host, which may refuse that page', async () => {
    const { records } = await call(appWith(undefined, { isEmbedded: true }), '/', '/members')
    expect(records[0]).toMatchObject({ redirect: { to: '/members' } })
    expect(JSON.stringify(records)).not.toContain('secret-canary')
  })

  test('is answered with its data where nothing stands in front of it', async () => {
    const { records } = await call(appWith(undefined), '/', '/de')
    expect(records).toContainEqual({ segment: '/de#page', data: 'home in undefined' })
  })
})

test.for(['/kept/%00a', '/kept/%0d%0a', '/kept/%7f', '/kept/%c2%9b', '/_m/data/kept/a'])(
  'a call that redirects to %s is answered without its data, because no request for that is accepted',
  async (to) => {
    const { status, records } = await call(appWith(undefined), '/', to)
    expect([status, records]).toEqual([200, [expect.objectContaining({ redirect: { to } }), { done: true }]])
  },
)

test('a call that redirects to its own page is answered with its data', async () => {
  const { records } = await call(appWith([guard]), '/de', '/de')
  expect(records).toContainEqual({ segment: '/de#page', data: 'home in de' })
})
