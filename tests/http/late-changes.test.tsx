import { Suspense, use } from 'react'
import request from 'supertest'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { eventStream } from '../../src/server/api/event-stream.ts'
import type { LoaderArgs, LoaderContext, VisitorArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { defineStoredSession } from '../../src/server/secrets/define-stored-session.ts'
import { submitForm } from '../../src/testing/submit-form.ts'
import { getData } from '../support/route-data.ts'
import { moduleOf, page, tinyApp, type TinyApp } from '../support/tiny-app.tsx'

const plain = page(() => <p>plain</p>)
const sealed = defineSession({ name: 'sealed', schema: z.object({ id: z.string() }) })
const stored = defineStoredSession({ name: 'stored', schema: z.object({ id: z.string() }), user: ({ id }) => id })
const data = { id: 'a-secret' }

type Change = (context: LoaderContext) => unknown

const CHANGES: readonly (readonly [change: string, culprit: string, make: Change])[] = [
  ['headers.append', 'The cookie theme ', ({ headers }) => headers.append('Set-Cookie', 'theme=a-secret; Path=/')],
  ['headers.set', 'The header x-mill ', ({ headers }) => headers.set('X-Mill', 'a-secret')],
  ['headers.delete', 'The header x-first ', ({ headers }) => headers.delete('X-First')],
  ['session.set', 'The cookie __Host-sealed ', async (context) => (await sealed.open(context)).set(data)],
  ['session.clear', 'The cookie __Host-sealed ', async (context) => (await sealed.open(context)).clear()],
  ['session.flash', 'The cookie __Host-sealed.flash ', async (context) => (await sealed.open(context)).flash('saved')],
  ['set of a stored session', 'The cookie __Host-stored ', async (context) => (await stored.open(context)).set(data)],
  ['clear of a stored session', 'The cookie __Host-stored ', async (context) => (await stored.open(context)).clear()],
]

/** What the log says about changes that were too late. */
async function complaints({ logs }: Pick<TinyApp, 'logs'>): Promise<readonly string[]> {
  const told = (): readonly string[] =>
    logs.flatMap(({ msg, err }) => {
      const { message, stack = '' } = (err ?? {}) as { readonly message?: string; readonly stack?: string }
      if (stack.startsWith('LateChangeError: ')) expect(msg).toBe('uncaught failure')
      else if (!String(msg).includes('was changed after')) return []
      return [message ?? String(msg)]
    })
  await expect.poll(told).not.toEqual([])
  expect(JSON.stringify(logs)).not.toContain('a-secret')
  return told()
}

/** Awaits the second part of its data in a stream. */
function Streamed({ data: { late } }: { readonly data: { readonly late: Promise<string> } }) {
  return (
    <Suspense fallback="…">
      <Late value={late} />
    </Suspense>
  )
}

function Late({ value }: { readonly value: Promise<string> }) {
  return <p>{use(value)}</p>
}

/** A page whose deferred value waits for the head of its answer, makes a change, and arrives nevertheless. */
function deferring(change: (args: LoaderArgs) => unknown) {
  let isRendered: () => boolean = () => false
  const loader = (args: LoaderArgs) => {
    args.context.headers.set('X-First', '1')
    const changed = async (): Promise<string> => {
      while (!isRendered()) await new Promise(setImmediate)
      await change(args)
      return 'arrived'
    }
    return { late: changed() }
  }
  return tinyApp({
    routes: { '/': { page: page(Streamed), loader: moduleOf({ loader }) } },
    middleware: [
      (_req, res, next) => {
        isRendered = () => res.headersSent
        next()
      },
    ],
  })
}

test.for(CHANGES)('%s in a deferred value of a document is logged with its culprit', async ([, culprit, change]) => {
  const tiny = deferring(({ context }) => change(context))
  expect((await request(tiny.app).get('/').expect(200)).text).toContain('arrived')
  expect(await complaints(tiny)).toEqual([expect.stringMatching(new RegExp(`^${culprit}was changed after`))])
})

test.for(CHANGES)('%s in a deferred value of route data is logged with its culprit', async ([, culprit, change]) => {
  const tiny = deferring(({ context }) => change(context))
  await getData(tiny.app, '/_m/data/')
  expect(await complaints(tiny)).toEqual([expect.stringMatching(new RegExp(`^${culprit}was changed after`))])
})

test('a header that only a document would have is no failure in route data', async () => {
  const tiny = deferring(({ context }) => context.headers.set('X-Mill', 'a-secret'))
  await getData(tiny.app, '/_m/data/')
  await complaints(tiny)
  expect(tiny.logs.flatMap(({ level, msg }) => (Number(level) >= 40 ? [msg] : []))).toEqual([
    expect.stringMatching(/^The header x-mill was changed after/),
  ])
})

test.for(CHANGES)('%s after the answer is logged with its culprit', async ([, culprit, change]) => {
  const loader = ({ context }: LoaderArgs): void => {
    context.headers.set('X-First', '1')
    context.after(() => change(context))
  }
  const tiny = tinyApp({ routes: { '/': { page: plain, loader: moduleOf({ loader }) } } })
  await request(tiny.app).get('/').expect(200)
  expect(await complaints(tiny)).toEqual([expect.stringMatching(new RegExp(`^${culprit}was changed after`))])
})

test.for(CHANGES)('%s in the body of a handler is logged with its culprit', async ([, culprit, change]) => {
  const GET = ({ context }: LoaderArgs): Response => {
    context.headers.set('X-First', '1')
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise(setImmediate)
        await change(context)
        controller.close()
      },
    })
    return new Response(body)
  }
  const tiny = tinyApp({ routes: { '/': { handler: moduleOf({ GET }) as never } } })
  await request(tiny.app).get('/').expect(200)
  expect(await complaints(tiny)).toEqual([expect.stringMatching(new RegExp(`^${culprit}was changed after`))])
})

test.for(CHANGES)('%s in an event stream is logged with its culprit', async ([, culprit, change]) => {
  const GET = ({ context }: LoaderArgs): Response => {
    context.headers.set('X-First', '1')
    return eventStream(async ({ end }) => {
      await change(context)
      end()
    })
  }
  const tiny = tinyApp({ routes: { '/': { handler: moduleOf({ GET }) as never } } })
  await request(tiny.app).get('/').expect(200)
  expect(await complaints(tiny)).toEqual([expect.stringMatching(new RegExp(`^${culprit}was changed after`))])
})

test.for(CHANGES)('%s in work that an action leaves behind is logged with its culprit', async ([, culprit, change]) => {
  const answered = Promise.withResolvers<void>()
  const save = action({
    handler: ({ context }: { readonly context: LoaderContext }) => {
      context.headers.set('X-First', '1')
      void answered.promise.then(() => change(context))
      return null
    },
  })
  const Form = () => (
    <form action={save as never}>
      <button>Save</button>
    </form>
  )
  const tiny = tinyApp({ routes: { '/': { page: page(Form) } }, actions: { 'actions.server.ts': { save } } })
  const form = await submitForm((await request(tiny.app).get('/').expect(200)).text, 'form')
  await request(tiny.app).post(form.url).set(form.headers).send(form.body).expect(303)
  answered.resolve()
  expect(await complaints(tiny)).toEqual([expect.stringMatching(new RegExp(`^${culprit}was changed after`))])
})

test('revalidate() of a handler that has returned is logged', async () => {
  const answered = Promise.withResolvers<void>()
  const save = action({
    handler: ({ revalidate }) => {
      revalidate('in-time')
      void answered.promise.then(() => revalidate('late'))
    },
  })
  const Form = () => <form action={save as never} />
  const tiny = tinyApp({ routes: { '/': { page: page(Form) } }, actions: { 'actions.server.ts': { save } } })
  const form = await submitForm((await request(tiny.app).get('/').expect(200)).text, 'form')
  await request(tiny.app).post(form.url).set(form.headers).send(form.body).expect(303)
  answered.resolve()
  expect(await complaints(tiny)).toEqual([
    expect.stringMatching(/^revalidate\(\) was called after its action's handler/),
  ])
})

test('cache() after its loader has returned is logged', async () => {
  const tiny = deferring(({ cache }) => cache({ lifetime: 5 }))
  await request(tiny.app).get('/').expect(200)
  expect(await complaints(tiny)).toEqual([expect.stringMatching(/^cache\(\) was called after its loader had returned/)])
})

test.for(['search', 'request'] as const)(
  '%s that is first read after its loader has returned is logged',
  async (name) => {
    const tiny = deferring((args) => args[name])
    await request(tiny.app).get('/?q=1').expect(200)
    expect(await complaints(tiny)).toEqual([
      expect.stringMatching(new RegExp(`^${name} was first read after its loader had returned`)),
    ])
  },
)

test.for(['search', 'request'] as const)(
  'what a deferred value reads of %s too late is not cached, and the next answers say it in time',
  async (name) => {
    const tiny = deferring((args) => args[name])
    const [first, second] = [await getData(tiny.app, '/_m/data/?q=1'), await getData(tiny.app, '/_m/data/?q=2')]
    expect(first.records[1]).not.toHaveProperty('uses')
    expect(first.records).toContainEqual({ end: 0, lifetime: 0 })
    expect(second.records[1]).toMatchObject({ uses: true })
    expect(second.records).toContainEqual({ end: 0 })
    expect((await request(tiny.app).get('/?q=3').expect(200)).text).toContain('"uses":true')
  },
)

test('search that a function visitor first reads after its answer has begun is logged', async () => {
  const visitor = async (args: VisitorArgs) => {
    await new Promise(setImmediate)
    return String(args.search['q'])
  }
  const tiny = tinyApp({ routes: { '/': { page: plain, loader: moduleOf({ visitor }) } } })
  await getData(tiny.app, '/_m/data/?q=1')
  expect(await complaints(tiny)).toEqual([expect.stringMatching(/^search was first read after its loader had/)])
})

test('what promises deep inside of the data read of search later, the browser knows', async () => {
  const loader = ({ search }: LoaderArgs) => {
    const late = (async () => {
      await new Promise(setImmediate)
      return String(search['q'])
    })()
    return { deep: [{ late }] }
  }
  const tiny = tinyApp({ routes: { '/': { page: plain, loader: moduleOf({ loader }) } } })
  expect((await getData(tiny.app, '/_m/data/?q=1')).records[1]).toMatchObject({ uses: true })
  expect(JSON.stringify(tiny.logs)).not.toContain('LateChangeError')
})

test('search that is read in time may be read later too', async () => {
  const loader = ({ search }: LoaderArgs) => ({
    late: (async () => {
      await new Promise(setImmediate)
      return String(search['q'])
    })(),
  })
  const inTime = tinyApp({ routes: { '/': { page: page(Streamed), loader: moduleOf({ loader }) } } })
  expect((await request(inTime.app).get('/?q=seen').expect(200)).text).toContain('seen')
  expect(JSON.stringify(inTime.logs)).not.toContain('LateChangeError')
})

test('what was set in time, and what is set again to the same, is no complaint', async () => {
  const tiny = tinyApp({
    routes: {
      '/': {
        page: plain,
        loader: moduleOf({
          loader: async ({ context, cache }: LoaderArgs) => {
            cache({ lifetime: 5 })
            await (await sealed.open(context)).set(data)
            context.headers.append('Set-Cookie', 'theme=dark')
            context.headers.set('X-First', '1')
            context.after(() => {
              context.headers.set('X-First', '1')
              context.headers.append('Set-Cookie', 'theme=dark')
              context.headers.delete('X-Never')
              context.log.info('done')
            })
          },
        }),
      },
    },
  })
  const { headers } = await request(tiny.app).get('/').expect(200)
  expect(headers['set-cookie']).toHaveLength(2)
  await expect.poll(() => tiny.logs.map(({ msg }) => msg)).toContain('done')
  expect(JSON.stringify(tiny.logs)).not.toContain('after')
})
