/** The sample of docs/embedding.md by which open tabs notice who has signed in at the host. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import request from 'supertest'
import { expect, test } from 'vitest'
import { unauthorized, type GuardArgs } from 'millrace/server'
import { nameUser } from '../../fixtures/recipes/host-users/host-user.server.ts'
import { action } from '../../../src/server/routes/actions/action.ts'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'
import { fencedBlocks } from '../../unit/app/handbook-samples.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')

const MODULE = 'actions.server.ts'

function site() {
  const state: { user?: string | undefined } = {}
  const saved: unknown[] = []
  const { app } = tinyApp({
    routes: {
      '/members': {
        guard: moduleOf({
          async guard({ context }: GuardArgs) {
            const { name } = context.locals as { readonly name?: string }
            await nameUser(context, name)
            if (name === undefined) unauthorized()
          },
        }),
        page: page(() => <h1>Members</h1>),
        loader: moduleOf({ loader: () => ({}) }),
      },
    } as never,
    actions: { [MODULE]: { save: action({ handler: ({ context }) => void saved.push(context.locals) }) } },
    middleware: [
      (_req, res, next) => {
        if (state.user !== undefined) res.locals['name'] = state.user
        next()
      },
    ],
  })
  const agent = request.agent(app)
  return {
    state,
    async data() {
      const { text, status, headers } = await agent.get('/_m/data/members').set('X-Forwarded-Proto', 'https')
      const [first = '{}'] = text.split('\n')
      return { status, marks: (JSON.parse(first) as { readonly sessions?: string }).sessions, headers }
    },
    document: () => agent.get('/members'),
    saved,
    async call(marks = '') {
      const { text, status } = await agent
        .post(`/_m/data/members?_action=${actionId(MODULE, 'save')}`)
        .set({ 'X-Forwarded-Proto': 'https', 'X-Millrace-Build': 'development', 'X-Millrace-Sessions': marks })
        .send({})
      return { status, head: JSON.parse(text.split('\n', 1)[0] ?? '{}') as { readonly others?: true } }
    },
  }
}

test('is the one of the chapter', async () => {
  const blocks = fencedBlocks(await readFile(join(PROJECT, 'docs/embedding.md'), 'utf8'))
  const start = '// src/app/host-user.server.ts\n'
  const shown = blocks.find(({ code }) => code.startsWith(start))?.code.slice(start.length)
  const own = join(PROJECT, 'tests/fixtures/recipes/host-users/host-user.server.ts')
  expect(`${shown}\n`).toBe(await readFile(own, 'utf8'))
})

test('each answer names its user, and a change of the host’s user at once', async () => {
  const { state, data, document } = site()
  const out = await data()
  expect([out.status, out.marks]).toEqual([401, '~shown:-'])
  state.user = 'ann'
  const ann = await data()
  expect([ann.status, (await data()).marks]).toEqual([200, ann.marks])
  state.user = 'bob'
  const bob = await data()
  const userOf = (marks = '') => marks.split('.').at(-1)
  expect(userOf(bob.marks)).not.toBe(userOf(ann.marks))
  expect((await document()).text).toContain(bob.marks)
  delete state.user
  expect([(await document()).status, (await data()).marks]).toEqual([401, '~shown:-'])
})

test('what a page of the host’s former user calls is not run for the next one', async () => {
  const { state, call, data, saved } = site()
  state.user = 'ann'
  const { marks } = await data()
  expect((await call(marks)).status).toBe(200)
  state.user = 'bob'
  const { status, head } = await call(marks)
  expect([status, head.others, saved.length]).toEqual([401, true, 1])
  expect((await call((await data()).marks)).status).toBe(200)
})
