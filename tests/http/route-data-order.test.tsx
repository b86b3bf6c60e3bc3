import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { forbidden, notFound, redirect } from '../../src/shared/control-flow.ts'
import { withServer } from '../support/listening.ts'
import { connectRaw, getRequest, type RawConnection } from '../support/raw-http.ts'
import { getData, wanting } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)
const layout = moduleOf({ default: (({ children }: { children: unknown }) => children) as never })

/** A loader that ends when the test says so. */
function held(more: object = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  promise.catch(() => undefined) // a test may reject it before the request has come
  const calls: LoaderArgs[] = []
  const module = moduleOf({
    loader: (args: LoaderArgs) => {
      calls.push(args)
      return promise
    },
    ...more,
  })
  return { module, resolve, reject, calls }
}

/** Site, section and page, each with a loader in the test's hands; `section` brings its own fallbacks. */
function threeLevels(guards: { site?: boolean; section?: boolean } = {}) {
  const site = held(guards.site === undefined ? {} : { guards: guards.site })
  const section = held(guards.section === undefined ? {} : { guards: guards.section })
  const inner = held()
  const routes: TinyAppOptions['routes'] = {
    '/': { ...fallbacks('root'), layout, layoutLoader: site.module },
    '/s': { ...fallbacks('section'), layout, layoutLoader: section.module },
    '/s/p': { page: hello, loader: inner.module },
  }
  return { site, section, inner, ...tinyApp({ routes }) }
}

/** What came of an answer so far: read on until a line fits. */
async function readUntil(connection: RawConnection, text: string): Promise<string> {
  let seen = ''
  while (!seen.includes(text)) {
    const byte = await connection.receive(1)
    if (byte.length === 0) throw new Error(`The answer ended before ${text}:\n${seen}`)
    seen += byte.toString('latin1')
  }
  return seen
}

async function turns(): Promise<void> {
  for (let count = 0; count < 10; count += 1) await turn()
}

describe('a guard in a layout', () => {
  test.for([
    ['site', '', 403],
    ['site', wanting('/s/p#page'), 403],
    ['site', '_m=', 403],
    // All segments are wanted, and that of the site is out by then.
    ['section', '', 200],
    ['section', wanting('/s/p#page'), 403],
    ['section', '_m=', 403],
  ] as const)('of the %s is not passed by asking for %j', async ([guard, query, expected]) => {
    const all = threeLevels()
    const answer = getData(all.app, `/_m/data/s/p?${query}`)
    // The page is faster than its guard.
    all.inner.resolve('secret-canary')
    await turns()
    if (guard === 'section') all.site.resolve('site')
    else all.section.resolve('secret-canary')
    await turns()
    all[guard].reject(capture(forbidden))
    const { status, records, text } = await answer
    expect(status).toBe(expected)
    expect(text).not.toContain('secret-canary')
    // Outside of the site's layout there is no fallback, so its document is a constant page.
    if (guard === 'site') expect(records).toMatchObject([{ document: true }, { done: true }])
    else expect(records.slice(-2)).toEqual([{ outcome: { kind: 'forbidden', at: 0 } }, { done: true }])
  })

  test('is asked for a page without a loader of its own', async () => {
    const { app } = tinyApp({
      routes: {
        '/': { ...fallbacks('root'), layout, layoutLoader: moduleOf({ loader: () => forbidden() }) },
        '/a': { page: hello },
      },
    })
    expect((await getData(app, `/_m/data/a?${wanting('/a#page')}`)).status).toBe(403)
  })

  test('runs for what is inside of it, and its own data is not sent unasked', async () => {
    const all = threeLevels()
    for (const { resolve } of [all.site, all.section, all.inner]) resolve('x')
    const { records } = await getData(all.app, `/_m/data/s/p?${wanting('/s/p#page')}`)
    expect(records.slice(1)).toEqual([{ segment: '/s/p#page', data: 'x' }, { done: true }])
    expect([all.site.calls.length, all.section.calls.length]).toEqual([1, 1])
  })

  test('does not run for what is outside of it', async () => {
    const all = threeLevels()
    all.site.resolve('x')
    await getData(all.app, `/_m/data/s/p?${wanting('/#layout')}`)
    expect([all.site.calls.length, all.section.calls.length, all.inner.calls.length]).toEqual([1, 0, 0])
  })

  test('that says it is none runs only when its data is wanted, and holds nobody back', async () => {
    const all = threeLevels({ section: false })
    all.site.resolve('x')
    all.inner.resolve('y')
    await getData(all.app, `/_m/data/s/p?${wanting('/s/p#page')}`)
    expect(all.section.calls).toHaveLength(0)
    await withServer(all.app, async (port) => {
      using connection = await connectRaw(port)
      await connection.send(getRequest(`/_m/data/s/p?${wanting('/s/p#page', '/s#layout')}`))
      const early = await readUntil(connection, '"y"}')
      expect(early).not.toContain('/s#layout')
      all.section.resolve('late')
      expect(await readUntil(connection, 'done')).toContain('late')
    })
  })
})

describe('records', () => {
  test('go out when their guards have passed, without waiting for what is inside', async () => {
    const all = threeLevels()
    await withServer(all.app, async (port) => {
      using connection = await connectRaw(port)
      await connection.send(getRequest('/_m/data/s/p'))
      all.inner.resolve('inner')
      all.site.resolve('site')
      const early = await readUntil(connection, '"site"}')
      await turns()
      all.section.resolve('section')
      const late = await readUntil(connection, 'done')
      expect(early).not.toContain('inner')
      expect(early + late).toMatch(/"site".*"section".*"inner".*done/s)
    })
  })
})

describe('a verdict', () => {
  test('of an outer segment goes before an inner one that came first', async () => {
    const all = threeLevels()
    const answer = getData(all.app, `/_m/data/s/p?${wanting('/s/p#page')}`)
    all.inner.reject(new Error('inner'))
    await turns()
    all.section.reject(capture(notFound))
    await turns()
    all.site.resolve('site')
    const { status, records } = await answer
    expect([status, records.slice(1)]).toEqual([404, [{ outcome: { kind: 'notFound', at: 0 } }, { done: true }]])
    expect(all.logs.filter(({ level }) => level === 50)).toEqual([])
  })

  test('waits even for an outer loader that guards nothing', async () => {
    const all = threeLevels({ section: false })
    const answer = getData(all.app, `/_m/data/s/p?${wanting('/s/p#page', '/s#layout')}`)
    all.site.resolve('site')
    all.inner.reject(capture(notFound))
    await turns()
    all.section.reject(capture(() => redirect('/login')))
    expect((await answer).records).toMatchObject([{ redirect: { to: '/login' } }, { done: true }])
  })

  test('after the first record is a record itself, and nothing inside of it follows', async () => {
    const all = threeLevels()
    all.site.resolve('site')
    all.section.reject(capture(() => redirect('/login')))
    all.inner.resolve('secret-canary')
    const { status, records } = await getData(all.app, '/_m/data/s/p')
    expect([status, records.slice(1)]).toEqual([
      200,
      [{ segment: '/#layout', data: 'site' }, { redirect: { to: '/login' } }, { done: true }],
    ])
  })

  test('does not wait for loaders inside of it', async () => {
    const all = threeLevels()
    all.site.resolve('site')
    all.section.reject(new Error('broken'))
    const { records } = await getData(all.app, '/_m/data/s/p')
    expect(records.at(-2)).toMatchObject({ outcome: { kind: 'error', at: 0 } })
  })

  test('without a fallback, after the first record, ends the answer before its end', async () => {
    const site = moduleOf({ loader: () => 'site' })
    const { app } = tinyApp({
      routes: {
        '/': { layout, layoutLoader: site },
        '/a': { page: hello, loader: moduleOf({ loader: () => notFound() }) },
      },
    })
    const { status, records } = await getData(app, '/_m/data/a')
    expect([status, records.at(-1)]).toEqual([200, { segment: '/#layout', data: 'site' }])
  })
})

/** What a function throws. */
function capture(run: () => never): unknown {
  try {
    return run()
  } catch (thrown) {
    return thrown
  }
}
