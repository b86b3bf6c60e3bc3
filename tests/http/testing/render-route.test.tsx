import type { ReactNode } from 'react'
import { Suspense, use } from 'react'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { notFound, redirect } from 'millrace/server'
import { renderRoute, type TestDefinition } from 'millrace/testing'

const moduleOf =
  <Module,>(module: Module) =>
  () =>
    Promise.resolve(module)

const fail = (): never => {
  throw new Error('a loader has run')
}

const app: TestDefinition = {
  start: fail,
  middleware: [fail],
  routes: {
    '/': {
      layout: moduleOf({
        default: ({ data, children }: { data: { user: string }; children: ReactNode }) => (
          <main>
            <i>{data.user}</i>
            {children}
          </main>
        ),
      }),
      layoutLoader: moduleOf({ loader: fail }),
      notFound: moduleOf({ default: () => <p>Nothing here</p> }),
      error: moduleOf({ default: () => <p>Broken</p> }),
    },
    '/(shop)/mills/[id]': {
      page: moduleOf({
        default: ({
          data,
          params,
          search,
        }: {
          data: { name: string; late?: Promise<string> }
          params: { id: string }
          search: { tab: string }
        }) => (
          <>
            <h1>{`${params.id}: ${data.name}, ${search.tab}`}</h1>
            <Suspense fallback="…">
              <Late text={data.late} />
            </Suspense>
          </>
        ),
        metadata: ({ data }: { data: { name: string } }) => ({ title: data.name }),
      } as never),
      loader: moduleOf({ loader: fail, search: z.object({ tab: z.string().default('all') }) }),
    },
    '/feed': { handler: moduleOf({ GET: () => new Response() }) },
  },
}

function Late({ text }: { text: Promise<string> | undefined }) {
  return <b>{text && use(text)}</b>
}

const layouts = { '/': { user: 'Ann' } }
const render = (options: object) =>
  renderRoute('/mills/[id]', { app, layouts, params: { id: '7' }, ...options } as never)

test('a route is rendered with its layouts and head, from the given data alone', async () => {
  const page = await render({ data: { name: 'Upper mill', late: Promise.resolve('later') }, search: { tab: 'log' } })
  expect([page.status, page.text('h1'), page.text('i'), page.text('title')]).toEqual([
    200,
    '7: Upper mill, log',
    'Ann',
    'Upper mill',
  ])
  expect(page.html).toContain('later')
  expect((await render({ data: { name: 'x' } })).text('h1')).toBe('7: x, all')
})

test('what a loader may throw leads to fallbacks and redirects', async () => {
  const missing = await render({ data: () => notFound() })
  expect([missing.status, missing.text('main p')]).toEqual([404, 'Nothing here'])
  const broken = await render({
    data: () => {
      throw new Error('no such mill')
    },
  })
  expect([broken.status, broken.text('main p')]).toEqual([500, 'Broken'])
  expect(JSON.stringify(broken.logs)).toContain('no such mill')
  const away = await render({ data: () => redirect('/elsewhere') })
  expect([away.status, away.headers.get('location')]).toEqual([307, '/elsewhere'])
})

test('what is missing is named', async () => {
  await expect(render({})).rejects.toThrow("renderRoute('/mills/[id]', { app, data: … })")
  await expect(render({ data: {}, layouts: {} })).rejects.toThrow("layouts: { '/': … }")
  await expect(render({ data: {}, layouts: { ...layouts, '/x': {} } })).rejects.toThrow("the key '/x'")
  await expect(renderRoute('/none' as never, { app })).rejects.toThrow(
    '/none is not in the table. Its pages are /mills/[id]',
  )
  await expect(renderRoute('/feed' as never, { app })).rejects.toThrow('is a handler')
  await expect(render({ data: {}, params: {} })).rejects.toThrow('"id" is missing')
})
