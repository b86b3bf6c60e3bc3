/** A getter that begins work on each look: what it gives to a look of ours, nobody else hears of, and must not end the process. */
import { Suspense, use } from 'react'
import request from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const failing = (): Promise<never> => Promise.reject(new Error('a getter'))

const VALUES: Readonly<Record<string, () => unknown>> = {
  promise: () => ({ get p() { return failing() } }),
  beside: () => ({ at: new Date(0), get p() { return failing() } }),
  nested: () => ({ a: { b: [{ get p() { return failing() } }] } }),
  list: () => ({ get a() { return [failing(), failing()] } }),
  map: () => ({ get a() { return new Map([[1, failing()]]) } }),
  twice: () => ({ get a() { return { at: new Date(0), get p() { return failing() } } } }),
  deferred: () => ({ d: Promise.resolve({ get p() { return failing() } }) }),
  thrown: () => { throw Object.defineProperty({}, 'digest', { enumerable: true, get: failing }) },
  cause: () => { throw Object.defineProperty(new Error('x'), 'cause', { enumerable: true, get: failing }) },
} // prettier-ignore

function Waits({ data }: { readonly data: { readonly d?: Promise<unknown> } | null }) {
  return <Suspense fallback="waits">{data?.d === undefined ? 'nothing' : <Brought d={data.d} />}</Suspense>
}

function Brought({ d }: { readonly d: Promise<unknown> }) {
  return <p>{Object.keys(use(d) as object)}</p>
}

test.for(Object.entries(VALUES))('%s', async ([, make]) => {
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  const plain = page(() => <p>shown</p>)
  const search = { safeParse: () => ({ success: true, data: make() }) }
  const cached = ({ context }: LoaderArgs): unknown => context.cached('key', { seconds: 60 }, make)
  const { app } = tinyApp({
    routes: {
      '/': { page: plain },
      '/loader': { page: page(Waits), loader: moduleOf({ loader: make }) },
      '/layout': {
        page: plain,
        layout: page(({ children }: { children: unknown }) => children),
        layoutLoader: moduleOf({ loader: make }),
      },
      '/handler': { handler: moduleOf({ GET: make }) },
      '/cached': { page: plain, loader: moduleOf({ loader: cached }) },
      '/search': { page: plain, loader: moduleOf({ search, loader: () => 1 }) },
      '/metadata': { page: page(() => <p>shown</p>, make as never) },
      '/component': { page: page(() => make() as never) },
    } as never,
    actions: { [MODULE]: { act: action({ handler: make }) } },
  })
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const id = actionId(MODULE, 'act')
  for (const path of ['/loader', '/layout', '/handler', '/cached', '/search', '/metadata', '/component']) {
    await request(app).get(path)
    await request(app).head(path)
    await request(app).get(`/_m/data${path}`).set('X-Millrace-Build', 'development')
  }
  await request(app).post(`/?_action=${id}`).type('form').send('a=1')
  await request(app).post(`/_m/data/?_action=${id}`).set('X-Millrace-Build', 'development').send({ input: {} })
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(unheard).toEqual([])
})
