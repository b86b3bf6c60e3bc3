/** Pages with `shell: 'early'`: the shell does not wait for the page's loader, and what that decides comes after. */
import { setTimeout as wait } from 'node:timers/promises'
import { useActionState, useId } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { useLoaderData, useMatches } from '../../src/client/hooks/use-view.ts'
import { forbidden, notFound, redirect } from '../../src/shared/control-flow.ts'
import { readStream, type StreamReader } from '../../src/testing/read-stream.ts'
import { submitForm } from '../../src/testing/submit-form.ts'
import { getData } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp, type TinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

const late = page(({ data }: { data: { text: string } }) => <p id="late">{`late ${data.text} ${useId()}`}</p>)
const loading = moduleOf({ default: () => <i aria-busy="true">on its way</i> })
const layout = page(({ children }: { children: unknown }) => <main id="shell">{children as never}</main>)

interface Gated {
  /** Lets the page's loader end so. */
  readonly open: (outcome?: () => unknown) => void
  readonly started: Promise<LoaderArgs>
  readonly server: TinyApp
  visit(
    path?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response & { readonly stream: StreamReader }>
}

/** An application with one early page, whose loader waits for the test. */
function gated(entry: object = {}, { environment, ...rest }: Partial<TinyAppOptions> = {}, module: object = {}): Gated {
  const gate = Promise.withResolvers<() => unknown>()
  const started = Promise.withResolvers<LoaderArgs>()
  const loader = async (args: LoaderArgs) => {
    started.resolve(args)
    return (await gate.promise)()
  }
  const server = tinyApp({
    routes: {
      '/': { ...fallbacks('root'), layout },
      '/early/[id]': { shell: 'early', loading, page: late, loader: moduleOf({ loader, ...module }), ...entry },
      '/target': { page: page(() => 'target') },
    } as never,
    ...(environment === undefined ? {} : { environment }),
    ...rest,
  })
  return {
    open: (outcome = () => ({ text: 'text' })) => gate.resolve(outcome),
    started: started.promise,
    server,
    async visit(path = '/early/1', headers = {}) {
      const answer = await fetch((await server.app.origin()) + path, { headers, redirect: 'manual' })
      return Object.assign(answer, { stream: readStream(answer) })
    },
  }
}

const lineOf = ({ logs }: TinyApp) => logs.find(({ durationMs }) => durationMs !== undefined)
const failuresOf = ({ logs }: TinyApp) => logs.filter(({ level }) => Number(level) >= 40)

describe('the shell of an early page', () => {
  test.for(['identity', 'gzip', 'br', 'zstd'])('is sent while its loader waits, coded as %s', async (encoding) => {
    const { visit, open, server } = gated()
    const { status, headers, stream } = await visit('/early/1', { 'Accept-Encoding': encoding })
    const shell = await stream.until('on its way')
    expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([200, null, 'private, no-cache'])
    expect(shell).toContain('id="shell"')
    expect(shell).not.toContain('late text')
    expect(headers.get('server-timing')).toMatch(/shell;dur=/)
    open()
    const whole = await stream.end()
    expect(whole).toContain('late text')
    expect(whole).toMatch(/<\/body><\/html>$/)
    const nonce = /'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '')?.[1]
    for (const [tag] of whole.matchAll(/<script(?![^>]*application\/json)[^>]*>/g))
      expect(tag).toContain(`nonce="${nonce}"`)
    await expect.poll(() => lineOf(server)).toMatchObject({ status: 200, route: '/early/[id]' })
    expect(lineOf(server)).not.toHaveProperty('late')
    expect(failuresOf(server)).toEqual([])
  })

  test('waits for the loaders of its layouts, which decide', async () => {
    const inner = Promise.withResolvers<unknown>()
    const { visit, started } = gated({ layout, layoutLoader: moduleOf({ loader: () => inner.promise }) })
    const answer = visit()
    await started
    inner.reject(await caught(forbidden))
    const { status, stream } = await answer
    expect([status, await stream.end()]).toEqual([403, expect.stringContaining('root forbidden')])
  })

  test.for([
    ['refuses its search params', '/early/1?n=x', 400, 'n:'],
    ['refuses its params', '/early/x', 404, 'root not found'],
  ] as const)('has the true status where a schema %s', async ([, path, expected, said]) => {
    const schemas = {
      search: z.object({ n: z.coerce.number().default(1) }),
      params: z.object({ id: z.string().refine(async (id) => (await wait(20, id)) !== 'x') }),
    }
    const { status, stream } = await gated({}, {}, schemas).visit(path)
    expect([status, await stream.end()]).toEqual([expected, expect.stringContaining(said)])
  })

  test('is not early for a crawler, which gets the true status and everything in its place', async () => {
    const { server } = gated({
      loader: moduleOf({
        loader: async ({ params }: LoaderArgs) =>
          (await wait(20, params['id'])) === '1' ? { text: 'whole' } : notFound(),
      }),
    })
    const get = (path: string) => request(server.app).get(path).set('User-Agent', CRAWLER)
    const found = await get('/early/1').expect(200)
    expect(found.text).toContain('<main id="shell"><!--$--><p id="late">late whole')
    expect(found.headers['etag']).toBeDefined()
    expect((await get('/early/2').expect(404)).text).toContain('root not found')
  })

  test('is not early in the answer to a form, which has the true status', async () => {
    const save = action({ handler: () => 'saved' })
    const Form = ({ children }: { children: unknown }) => {
      const [state, submit] = useActionState(save as never, 'new')
      return (
        <form action={submit}>
          <p>{state}</p>
          {children as never}
        </form>
      )
    }
    let gone = false
    const loader = async () => {
      await wait(20)
      return gone ? notFound() : { text: 'mill' }
    }
    const { server } = gated(
      { layout: page(Form), loader: moduleOf({ loader }) },
      { actions: { 'a.server.ts': { save } } },
    )
    const shown = await request(server.app).get('/early/1').expect(200)
    expect(shown.text).toContain('on its way')
    const form = await submitForm(shown.text, 'form')
    const post = () => request(server.app).post(form.url).set(form.headers).send(String(form.body))
    const saved = await post().expect(200)
    expect(saved.text).toContain('<p>saved</p><!--$--><p id="late">late mill')
    gone = true
    expect((await post().expect(404)).text).toContain('root not found')
  })

  test('is what HEAD tells of, and the data of a page is awaited', async () => {
    const { server, started, open } = gated()
    const head = await request(server.app).head('/early/1').expect(200)
    expect(head.headers['etag']).toBeUndefined()
    expect((await started).signal.aborted).toBe(true)
    open(() => notFound())
    expect((await getData(server.app, '/_m/data/early/1')).status).toBe(404)
  })

  test('waits with a layout that reads the page’s data, and tells others that it is not there', async () => {
    const rendered = Promise.withResolvers<unknown>()
    const Reading = ({ children }: { children: unknown }) => {
      rendered.resolve({ pageData: useMatches().at(-1)?.pageData })
      const { text } = useLoaderData<{ loader: () => { text: string } }>('/early/[id]' as never)
      return <main id="shell">{[`read ${text}`, children as never]}</main>
    }
    const { visit, open } = gated({ layout: page(Reading) })
    const answer = visit()
    expect(await rendered.promise).toEqual({ pageData: expect.any(Promise) as unknown })
    open()
    expect(await (await answer).stream.end()).toContain('<main id="shell">read text')
  })
})

describe('what the loader of an early page decides after the shell', () => {
  test.for([
    ['not found', notFound, 'notFound', '404 Not Found', undefined],
    ['forbidden', forbidden, 'forbidden', '403 Forbidden', undefined],
    ['a redirect', () => redirect('/target'), 'redirect', '0;url=/target"', undefined],
    [
      'an unsafe redirect',
      () => redirect('//evil.example/'),
      'failure',
      'server-side exception',
      'redirect() was refused',
    ],
    ['a failure', () => JSON.parse('{'), 'failure', 'server-side exception', 'JSON'],
    ['what cannot be sent', () => ({ text: () => 1 }), 'failure', 'server-side exception', 'which cannot be sent'],
  ] as const)('%s: the document says so, and the log names it', async ([, outcome, named, said, failure]) => {
    const { visit, open, server } = gated()
    const { status, stream } = await visit()
    await stream.until('on its way')
    open(outcome)
    const whole = await stream.end()
    expect([status, whole]).toEqual([200, expect.stringContaining(said)])
    expect(whole).toContain('<meta name="robots" content="noindex"/>')
    expect(whole).not.toContain('url=//evil')
    await expect.poll(() => lineOf(server)).toMatchObject({ status: 200, late: named })
    const told = failuresOf(server).map(({ err, place, sent, loader }) => [
      (err as { message: string }).message,
      place,
      sent,
      loader,
    ])
    expect(told).toEqual(
      failure === undefined ? [] : [[expect.stringContaining(failure), 'loader', 200, '/early/[id]#page']],
    )
  })

  test('has the true status if it is known with the shell', async () => {
    const { server, open } = gated()
    open(notFound)
    expect((await request(server.app).get('/early/1')).status).toBe(404)
  })

  test('a deferred value in its data has its own hole', async () => {
    const deferred = Promise.withResolvers<string>()
    const { visit, open } = gated()
    const { stream } = await visit()
    await stream.until('on its way')
    open(() => ({ text: 'first', more: deferred.promise }))
    expect(await stream.until('late first')).not.toContain('and then')
    deferred.resolve('and then')
    expect(await stream.end()).toContain('and then')
  })

  test('tells the browser its facts, which the head cannot have', async () => {
    const { visit, open, started } = gated()
    const { stream } = await visit()
    const shell = await stream.until('on its way')
    expect(shell).not.toContain('"meta"')
    const { cache } = await started
    open(() => {
      cache({ lifetime: 5, tags: ['mill:1'] })
      return { text: 'text' }
    })
    const whole = await stream.end()
    expect(whole).toMatch(/lifetime.*5.*mill:1/s)
  })
})

describe('an early page that does not end', () => {
  test('is given up when its time is over: the document ends whole, with a digest', async () => {
    const { visit, server } = gated({}, { environment: { RENDER_TIMEOUT_MS: '50' } })
    const { status, stream } = await visit()
    expect([status, await stream.end()]).toEqual([200, expect.stringMatching(/<\/body><\/html>$/)])
    await expect.poll(() => lineOf(server)).toMatchObject({ status: 200, late: 'failure' })
    const [failure, ...others] = failuresOf(server)
    expect([others, stream.text]).toEqual([[], expect.stringContaining(String(failure?.['digest']))])
  })

  test('ends with its server, and that is no failure', async () => {
    const { visit, started, server } = gated()
    const { stream } = await visit()
    await stream.until('on its way')
    await server.app.stop()
    await expect(stream.end()).rejects.toThrow('terminated')
    expect((await started).signal.reason).toMatchObject({ cause: 'gone' })
    expect(failuresOf(server)).toEqual([])
  })

  test.for([
    ['redirects', () => redirect('/target'), 307],
    ['refuses', () => forbidden(), 403],
    [
      'fails',
      () => {
        throw new Error('a layout')
      },
      500,
    ],
  ] as const)('ends with the answer of a layout that %s while it is rendered', async ([, decide, status]) => {
    const { visit, started } = gated({ layout: page(decide) })
    const [answer, { signal }] = await Promise.all([visit(), started])
    expect(answer.status).toBe(status)
    await expect.poll(() => signal.aborted).toBe(true)
  })

  test('stops when the visitor leaves, and that is no failure', async () => {
    const { visit, started, server } = gated()
    const { stream } = await visit()
    await stream.until('on its way')
    await stream.cancel()
    const { signal } = await started
    await expect.poll(() => signal.reason as unknown).toMatchObject({ cause: 'gone' })
    await expect.poll(() => lineOf(server)).toMatchObject({ status: 200, aborted: true })
    expect(lineOf(server)).not.toHaveProperty('late')
    expect(failuresOf(server)).toEqual([])
  })
})

test('function metadata of the page is a fault that names it', async () => {
  const titled = page(() => 'page', (() => ({ title: 'x' })) as never)
  const { server } = gated({ page: titled })
  const { status } = await request(server.app).get('/early/1')
  expect(status).toBe(500)
  expect(failuresOf(server)[0]).toMatchObject({
    err: {
      message:
        "The page of '/early/[id]' exports `metadata` as a function while the entry says shell: 'early', which sends the head and status 200 before the loader is done. Remove shell: 'early', or export constant metadata.",
    },
  })
})

async function caught(refuse: () => never): Promise<Error> {
  try {
    return refuse()
  } catch (thrown) {
    return thrown as Error
  }
}
