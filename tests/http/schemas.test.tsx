/** What authors are promised of their schemas: any library that implements Standard Schema will do, wherever zod does. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import type { Schema } from '../../src/shared/schema.ts'
import { idSchema, pageSchema, standardSchema } from '../support/standard-schema.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const SAVE = actionId('actions.server.ts', 'save')

interface SchemaApp {
  readonly search?: Schema | undefined
  readonly params?: Schema | undefined
  readonly input?: Schema | undefined
  readonly renderTimeoutMs?: number
}

/** One page, one resource and one action, all with the same schemas. */
function schemaApp({ search, params, input, renderTimeoutMs = 10_000 }: SchemaApp) {
  const ran: unknown[] = []
  const given = ({ search: asked, params: named }: LoaderArgs<never, unknown, unknown>) => {
    ran.push({ search: asked, params: named })
    return { search: asked, params: named }
  }
  const save = action({
    ...(input === undefined ? {} : { input }),
    handler: ({ input: typed }) => void ran.push({ input: typed }),
  })
  const schemas = { ...(search === undefined ? {} : { search }), ...(params === undefined ? {} : { params }) }
  const { app, logs } = tinyApp({
    routes: {
      '/': fallbacks('root'),
      '/mills/[id]': {
        page: page(({ data }: { data: unknown }) => <p>{JSON.stringify(data)}</p>),
        loader: moduleOf({ ...schemas, loader: given }),
      },
      '/api/[id]': {
        handler: moduleOf({ ...schemas, GET: (args: LoaderArgs<never, unknown>) => Response.json(given(args)) }),
      },
      '/form': { page: page(() => <form action={save as never} />) },
    } as never,
    actions: { 'actions.server.ts': { save } },
    environment: { RENDER_TIMEOUT_MS: String(renderTimeoutMs) },
  })
  return { app, logs, ran }
}

const DATA = { search: { page: 2 }, params: { id: 7 } }

describe.for([
  ['zod', z.object({ page: z.coerce.number().min(1) }), z.object({ id: z.coerce.number().int() })],
  [
    'zod with an asynchronous refinement',
    z.object({ page: z.coerce.number().refine(async (number) => number >= 1) }),
    z.object({ id: z.coerce.number().refine(async (number) => Number.isInteger(number)) }),
  ],
  ['a library that answers at once', pageSchema(), idSchema()],
  ['a library that answers by a promise', pageSchema('later'), idSchema('later')],
  ['a library whose schemas are functions', pageSchema('as a function'), idSchema('as a function')],
] as const)('schemas of %s', ([, search, params]) => {
  test('make what a loader gets', async () => {
    const { text } = await request(schemaApp({ search, params }).app).get('/mills/7?page=2').expect(200)
    expect(text).toContain(JSON.stringify(DATA).replaceAll('"', '&quot;'))
  })

  test('make what a loader gets for route data', async () => {
    const { app, ran } = schemaApp({ search, params })
    await request(app).get('/_m/data/mills/7?page=2').expect(200)
    expect(ran).toEqual([DATA])
  })

  test('make what a handler gets', async () => {
    const { body } = await request(schemaApp({ search, params }).app).get('/api/7?page=2').expect(200)
    expect(body).toEqual(DATA)
  })

  test.for([
    ['/mills/7?page=0', 400],
    ['/mills/x?page=2', 404],
    ['/_m/data/mills/7?page=0', 400],
    ['/_m/data/mills/x?page=2', 404],
    ['/api/7?page=0', 400],
    ['/api/x?page=2', 404],
  ] as const)('refuse %s with %i, and nothing runs', async ([path, status]) => {
    const { app, ran } = schemaApp({ search, params })
    await request(app).get(path).expect(status)
    expect(ran).toEqual([])
  })

  test('check the input of an action', async () => {
    const { app, ran } = schemaApp({ input: search })
    const url = `/form?_action=${SAVE}.0`
    await request(app).post(url).type('form').send('page=0').expect(422)
    await request(app).post(url).type('form').send('page=2').expect(303)
    expect(ran).toEqual([{ input: { page: 2 } }])
  })
})

test('a path whose params the schema of its page refuses shows the page of a 404', async () => {
  const { text } = await request(schemaApp({ params: idSchema() }).app)
    .get('/mills/x')
    .expect(404)
  expect(text).toContain('root not found')
})

test('a refused input names its field, whichever way the library writes the path', async () => {
  const { app } = schemaApp({ input: pageSchema() })
  const { text } = await request(app)
    .post(`/_m/data/form?_action=${SAVE}`)

    .type('form')
    .send('page=0')
    .buffer(true)
  expect(text).toContain('"page":["is not a page"]')
})

describe.for([
  [
    'throws',
    () => {
      throw new Error('the schema is broken')
    },
  ],
  ['rejects', () => Promise.reject(new Error('the schema is broken'))],
] as const)('a schema that %s', ([, validate]) => {
  const broken: Schema = { '~standard': { version: 1, vendor: 'stand-in', validate } }

  test.for([
    ['/mills/7', { search: broken }],
    ['/mills/7', { params: broken }],
    ['/_m/data/mills/7', { search: broken }],
    ['/_m/data/mills/7', { params: broken }],
    ['/api/7', { search: broken }],
    ['/api/7', { params: broken }],
  ] as const)('is a failure of %s with %j: 500, a digest and a log line', async ([path, schemas]) => {
    const { app, logs, ran } = schemaApp(schemas)
    await request(app).get(path).expect(500)
    expect(ran).toEqual([])
    const failures = logs.filter(({ digest }) => digest !== undefined)
    expect(JSON.stringify(failures)).toContain('the schema is broken')
  })

  test('is a failure of the action', async () => {
    const { app, logs } = schemaApp({ input: broken })
    await request(app).post(`/form?_action=${SAVE}.0`).type('form').send('page=2').expect(500)
    expect(JSON.stringify(logs)).toContain('the schema is broken')
  })
})

test.for(['/mills/7', '/_m/data/mills/7'])(
  'a schema that never answers is given up with the render of %s',
  async (path) => {
    const hanging: Schema = {
      '~standard': { version: 1, vendor: 'stand-in', validate: () => new Promise<never>(() => undefined) },
    }
    const { app } = schemaApp({ search: hanging, renderTimeoutMs: 20 })
    await request(app).get(path).expect(500)
  },
)

test('a schema that answers after the visitor was refused by another one does not end the process', async () => {
  const rejected = standardSchema(() => ({ message: 'no' }))
  const late: Schema = {
    '~standard': { version: 1, vendor: 'stand-in', validate: () => Promise.reject(new Error('late')) },
  }
  const { app } = tinyApp({
    routes: {
      '/a': { layout: page(() => null), layoutLoader: moduleOf({ search: late, loader: () => 1 }) },
      '/a/b': { page: page(() => null), loader: moduleOf({ search: rejected, loader: () => 1 }) },
    } as never,
  })
  await request(app).get('/a/b').expect(400)
})

test('a session is checked by a schema of any library', async () => {
  const kind = defineSession({
    schema: standardSchema<{ readonly user: string }>((value) =>
      typeof (value as { user?: unknown }).user === 'string'
        ? { value: value as { user: string } }
        : { message: 'is not a text', path: 'user' },
    ),
  })
  const { app } = tinyApp({
    routes: {
      '/in': {
        handler: moduleOf({
          async GET({ context, search }: LoaderArgs<never>) {
            const session = await kind.open(context)
            if (search['user'] !== undefined) await session.set({ user: search['user'] as string })
            const refused = await session.set({ user: 7 } as never).catch((thrown: unknown) => String(thrown))
            return Response.json({ data: session.data, refused })
          },
        }),
      },
    },
  })
  const signedIn = await request(app).get('/in?user=Ada').expect(200)
  expect(signedIn.body).toEqual({ data: { user: 'Ada' }, refused: expect.stringContaining('user: is not a text') })
})
