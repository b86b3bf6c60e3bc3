import { Suspense, use } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { forbidden, notFound, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const layout = (mark: string) =>
  moduleOf({
    default: (({ children }: { children: unknown }) => <section id={mark}>{children as never}</section>) as never,
  })
const never = page(() => <p>the page itself</p>)
const throwing = (thrown: () => unknown) =>
  moduleOf({
    loader: () => {
      throw thrown()
    },
  })
const signalOf = (leave: () => never) => () => {
  try {
    return leave()
  } catch (signal) {
    return signal
  }
}

describe('refusals and failures before the first byte', () => {
  const cases = [
    { name: 'notFound()', leave: notFound, status: 404, text: 'inner not found' },
    { name: 'forbidden()', leave: forbidden, status: 403, text: 'inner forbidden' },
    { name: 'unauthorized()', leave: unauthorized, status: 401, text: 'inner unauthorized' },
  ] as const

  test.for(cases)('$name in a loader shows the nearest fallback in its layouts, in the body', async (expected) => {
    const { app, logs } = tinyApp({
      routes: {
        '/': { ...fallbacks('outer'), layout: layout('root') },
        '/a': { ...fallbacks('inner'), layout: layout('area') },
        '/a/b': { page: never, loader: throwing(signalOf(expected.leave)) },
      },
    })
    const answer = await request(app).get('/a/b').expect(expected.status)
    expect(answer.text).toContain('<section id="root"><section id="area"><p id="fallback">')
    expect(answer.text).toContain(expected.text)
    expect(answer.text).toContain('<meta name="robots" content="noindex"/>')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(logs.filter(({ level }) => level === 50)).toEqual([])
  })

  test.for(cases)('$name in a component does the same as in a loader', async (expected) => {
    const { app } = tinyApp({
      routes: { '/': fallbacks('outer'), '/a': { ...fallbacks('inner'), page: page(() => expected.leave()) } },
    })
    const answer = await request(app).get('/a').expect(expected.status)
    expect(answer.text).toContain(expected.text)
  })

  test("a layout's refusal is answered above that layout, never inside it", async () => {
    const { app } = tinyApp({
      routes: {
        '/': { ...fallbacks('outer'), layout: layout('root') },
        '/a': { ...fallbacks('inner'), layout: layout('area'), layoutLoader: throwing(signalOf(forbidden)) },
        '/a/b': { page: never },
      },
    })
    const answer = await request(app).get('/a/b').expect(403)
    expect(answer.text).toContain('outer forbidden')
    expect(answer.text).not.toContain('id="area"')
  })

  test('a layout that throws while it renders is answered above that layout', async () => {
    const broken = moduleOf({
      default: (() => {
        throw new Error('broken layout')
      }) as never,
    })
    const { app, logs } = tinyApp({
      routes: { '/': fallbacks('outer'), '/a': { ...fallbacks('inner'), layout: broken }, '/a/b': { page: never } },
    })
    const answer = await request(app).get('/a/b').expect(500)
    expect(answer.text).toContain('outer error')
    expect(logs.filter(({ level }) => level === 50)).toHaveLength(1)
  })

  test('a failing loader shows the error page with a digest, which the log line carries too', async () => {
    const { app, logs } = tinyApp({
      routes: { '/': { ...fallbacks('root'), page: never, loader: throwing(() => new Error('secret-canary')) } },
    })
    const answer = await request(app).get('/').expect(500)
    const failure = logs.find(({ level }) => level === 50)
    expect(failure?.['digest']).toMatch(/^[0-9a-f]{12}$/)
    expect(answer.text).toContain(`root error server ${String(failure?.['digest'])}`)
    expect(answer.text).not.toContain('secret-canary')
    expect(JSON.stringify(failure)).toContain('secret-canary')
  })

  test('an error inside a Suspense boundary that is part of the shell is a 500 too', async () => {
    const Broken = (): never => {
      throw new Error('inside')
    }
    const { app } = tinyApp({
      routes: {
        '/': {
          ...fallbacks('root'),
          page: page(() => (
            <Suspense fallback="waiting">
              <Broken />
            </Suspense>
          )),
        },
      },
    })
    const answer = await request(app).get('/').expect(500)
    expect(answer.text).toContain('root error')
    expect(answer.text).not.toContain('waiting')
  })

  test('when the error page fails too, the next one up is shown, and at last a constant page', async () => {
    const broken = moduleOf({
      default: () => {
        throw new Error('broken error page')
      },
    })
    const loader = throwing(() => new Error('first'))
    const both = tinyApp({ routes: { '/': { ...fallbacks('outer') }, '/a': { error: broken, page: never, loader } } })
    expect((await request(both.app).get('/a').expect(500)).text).toContain('outer error')

    const alone = tinyApp({ routes: { '/': { error: broken, page: never, loader } } })
    const answer = await request(alone.app).get('/').expect(500)
    expect(answer.text).toContain(
      '<h1 data-testid="error">Application error: a server-side exception has occurred</h1>',
    )
    expect(answer.text).toMatch(/<p data-testid="digest">Digest: [0-9a-f]{12}<\/p>/)
    expect(answer.text).not.toContain('broken error page')
  })

  test('a broken document component ends in the constant page', async () => {
    const { app } = tinyApp({
      routes: { '/': { ...fallbacks('root'), page: never } },
      document: () => {
        throw new Error('broken document')
      },
    })
    const answer = await request(app).get('/').expect(500)
    expect(answer.text).toContain('Application error: a server-side exception has occurred')
  })

  test('two fallbacks that call each other end, with a 500', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          error: page(() => notFound()) as never,
          notFound: page(() => {
            throw new Error('round and round')
          }) as never,
          page: page(() => notFound()),
        },
      },
    })
    await request(app).get('/').expect(500)
  })

  test('an error page that refuses leaves the failure a failure', async () => {
    const { app } = tinyApp({
      routes: { '/': { error: page(() => notFound()) as never, page: never, loader: throwing(() => new Error('x')) } },
    })
    await request(app).get('/').expect(500)
  })

  test('a URL that nothing matches gets the root not-found page, for a form post too', async () => {
    const { app } = tinyApp({ routes: { '/': fallbacks('root'), '/a': { page: never } } })
    for (const method of ['get', 'post'] as const) {
      const answer = await request(app)[method]('/nope').expect(404)
      expect(answer.text).toContain('root not found')
    }
  })

  test('a URL that nothing matches shows its page in the layout of the whole site, with its data', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          ...fallbacks('root'),
          layout: page(({ data, children }: { data: { visitor: string }; children: never }) => (
            <section id={data.visitor}>{children}</section>
          )),
          layoutLoader: moduleOf({
            loader: ({ search, context }: LoaderArgs) => {
              context.headers.set('X-Visitor', 'ann')
              if (search['gone'] === 'yes') redirect('/elsewhere')
              return { visitor: 'ann' }
            },
          }),
        },
        '/a': { page: never },
      } as never,
    })
    const answer = await request(app).get('/nope').expect(404).expect('X-Visitor', 'ann')
    expect(answer.text).toMatch(/<section id="ann">.*root not found/)
    expect(answer.text).toContain('"data":{"/#layout":{"visitor":"ann"}}')
    await request(app).get('/nope?gone=yes').expect(307).expect('Location', '/elsewhere')
  })
})

test('outside production, a loader value that would be lost on the way is a failure that names it', async () => {
  const { app, logs } = tinyApp({
    routes: { '/': { ...fallbacks('root'), page: never, loader: moduleOf({ loader: () => ({ format: () => '' }) }) } },
  })
  await request(app).get('/').expect(500)
  expect(JSON.stringify(logs)).toContain('The loader of /#page returned .format: a function')
})

describe('redirects of an application', () => {
  const leaving = (to: string, ...rest: [status?: 301 | 302 | 303 | 307 | 308, options?: { external: boolean }]) =>
    tinyApp({
      routes: {
        '/': { ...fallbacks('root'), page: never, loader: throwing(signalOf(() => redirect(to, ...rest))) },
      },
    }).app

  test('are real redirects before the first byte', async () => {
    const answer = await request(leaving('/there?x=1', 303)).get('/').expect(303)
    expect(answer.headers['location']).toBe('/there?x=1')
    expect(answer.text).toBe('')
  })

  test.for([
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    'https://evil.test/',
    'https:evil.test',
    'javascript:alert(1)',
    ' //evil.test',
    '/\tevil',
    'there',
  ])('never lead off this site by accident: %j', async (to) => {
    const answer = await request(leaving(to)).get('/').expect(500)
    expect(answer.headers['location']).toBeUndefined()
    expect(JSON.stringify(answer.headers)).not.toContain('evil.test')
  })

  test('that are refused are failures, with one digest in page and log', async () => {
    const { app, logs } = tinyApp({
      routes: {
        '/': { ...fallbacks('root'), page: never, loader: throwing(signalOf(() => redirect('//evil.test'))) },
        '/feed': { handler: moduleOf({ GET: () => redirect('//evil.test') }) },
      },
    })
    for (const path of ['/', '/feed']) {
      const answer = await request(app).get(path).expect(500)
      const failure = logs.findLast(({ level }) => level === 50)
      expect(answer.text).toContain(String(failure?.['digest']))
    }
  })

  test.for([
    ['in a deferred value', (wait: Promise<void>) => ({ late: wait.then(() => redirect('//evil.test')) })],
    ['in a component', (wait: Promise<void>) => ({ late: wait })],
  ] as const)(
    'that are refused %s behind the shell are failures too, and nothing is left to follow',
    async ([, make]) => {
      const Late = ({ late }: { late: Promise<unknown> }) => {
        use(late)
        return redirect('//evil.test')
      }
      const { app, logs } = tinyApp({
        routes: {
          '/': {
            ...fallbacks('root'),
            loader: moduleOf({ loader: () => make(slowly(20)) }),
            page: page(({ data }: { data: { late: Promise<unknown> } }) => (
              <Suspense fallback="waiting">
                <Late late={data.late} />
              </Suspense>
            )),
          },
        },
      })
      const answer = await request(app).get('/').expect(200)
      const failures = logs.filter(({ level }) => level === 50)
      expect(failures).toMatchObject([{ err: { message: expect.stringContaining('was refused') as string } }])
      expect(answer.text).toMatch(new RegExp(`\\$RX\\("[a-p]{16}B:0","${String(failures[0]?.['digest'])}"`))
      expect(answer.text).toContain('<meta name="robots" content="noindex"/>')
      // React's own messages outside production name it as well.
      expect(answer.text).not.toMatch(/millrace:redirect|http-equiv/)
    },
  )

  test('lead to another site where the author says so', async () => {
    const answer = await request(leaving('https://other.test/x', 307, { external: true }))
      .get('/')
      .expect(307)
    expect(answer.headers['location']).toBe('https://other.test/x')
  })

  test("an outer segment's verdict goes before an inner one's", async () => {
    const { app } = tinyApp({
      routes: {
        '/': fallbacks('root'),
        '/a': {
          layout: layout('area'),
          layoutLoader: moduleOf({ loader: () => slowly(20).then(() => unauthorized()) }),
        },
        '/a/b': { page: never, loader: throwing(signalOf(() => redirect('/inner'))) },
      },
    })
    await request(app).get('/a/b').expect(401)
  })
})

describe('after the shell has gone out', () => {
  const late = (fail: () => unknown) => {
    const Late = ({ value }: { value: Promise<unknown> }) => <b>{String(use(value))}</b>
    return tinyApp({
      routes: {
        '/': {
          ...fallbacks('root'),
          page: page(({ data }: { data: { value: Promise<unknown> } }) => (
            <main>
              <h1>Shell</h1>
              <Suspense fallback="waiting">
                <Late value={data.value} />
              </Suspense>
            </main>
          )),
          loader: moduleOf({ loader: () => ({ value: slowly(20).then(fail) }) }),
        },
      },
    })
  }

  test('a failure leaves its digest, and nothing of its text', async () => {
    const { app, logs } = late(() => {
      throw new Error('secret-canary')
    })
    const answer = await request(app).get('/').expect(200)
    const failures = logs.filter(({ level }) => level === 50)
    expect(failures).toHaveLength(1)
    expect(answer.text).toContain('Shell')
    expect(answer.text).toContain(String(failures[0]?.['digest']))
    // React's development build, which tests use, writes the message itself; see built-server.test.ts for production.
    expect(answer.text.split('$RX')[0]).not.toContain('secret-canary')
    expect(answer.text).toContain('<meta name="robots" content="noindex"/>')
    expect(answer.text).toMatch(/<\/body><\/html>$/)
  })

  test('not-found adds noindex, and is no failure', async () => {
    const { app, logs } = late(() => notFound())
    const answer = await request(app).get('/').expect(200)
    expect(answer.text).toContain('<meta name="robots" content="noindex"/>')
    expect(logs.filter(({ level }) => level === 50)).toEqual([])
  })

  test('a redirect becomes a refresh, past the Location guard', async () => {
    const { app } = late(() => redirect('/there?a=1&b="'))
    const answer = await request(app).get('/').expect(200)
    expect(answer.text).toContain('<meta http-equiv="refresh" content="0;url=/there?a=1&amp;b=%22"/>')

    const evil = await request(late(() => redirect('//evil.test')).app)
      .get('/')
      .expect(200)
    expect(evil.text).not.toContain('http-equiv')
  })

  test('a crawler is told the true status, with the fallback in the body', async () => {
    const { app } = late(() => notFound())
    const answer = await request(app)
      .get('/')
      .set('User-Agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)')
      .expect(404)
    expect(answer.text).toContain('root not found')
  })
})

function slowly(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
