import { submitForm } from 'millrace/testing'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Suspense, use } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { notFound } from '../../src/shared/control-flow.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const still = page(() => <h1>Still here</h1>)
const CRAWLER = 'Googlebot/2.1'

function failing(): Promise<never> {
  return Promise.reject(Object.assign(new Error('canary'), { password: 'canary' }))
}

/** Whoever reads it gets another promise. */
function getter(): object {
  return {
    get receipt() {
      return failing()
    },
  }
}

function late(): object {
  return { at: Promise.resolve(1) }
}

/** Rejections that nobody has heard of while `work` ran: each of them would end the process of a server. */
async function unheard(work: () => Promise<void>): Promise<readonly unknown[]> {
  const reasons: unknown[] = []
  const note = (reason: unknown): void => void reasons.push(reason)
  process.on('unhandledRejection', note)
  try {
    await work()
    await nextTurn()
    await nextTurn()
  } finally {
    process.off('unhandledRejection', note)
  }
  return reasons
}

const digestLines = (logs: readonly Record<string, unknown>[]) => logs.filter(({ digest }) => digest !== undefined)

describe('a promise that fails somewhere in what an author returns ends no process, is logged, and tells nobody why', () => {
  const places: readonly [string, () => unknown][] = [
    ['deep in an object', () => ({ order: { receipt: failing() } })],
    ['in a list', () => [failing()]],
    ['in a Map', () => ({ receipts: new Map([['a', failing()]]) })],
    ['in a Set', () => ({ receipts: new Set([failing()]) })],
    ['in what a deferred value brings', () => ({ order: Promise.resolve({ receipt: failing() }) })],
    ['behind a getter', getter],
    ['behind a getter deep in an object', () => ({ order: [getter()] })],
    ['behind a getter that is a member, among others that are not', () => ({ ...late(), order: getter() })],
    ['with a reason that is no error', () => ({ order: { receipt: Promise.reject({ password: 'canary' }) } })],
  ]
  const ways: readonly [string, 'get' | 'head', string][] = [
    ['its document', 'get', '/'],
    ['the head of its document', 'head', '/'],
    ['its data', 'get', '/_m/data/'],
    ['the head of its data', 'head', '/_m/data/'],
  ]
  test.for(
    places.flatMap(([place, make]) => ways.map(([way, method, url]) => [place, way, make, method, url] as const)),
  )('%s, for whoever asks for %s', async ([, , make, method, url]) => {
    const { app, logs } = tinyApp({
      routes: { '/': { ...fallbacks('root'), page: still, loader: moduleOf({ loader: make }) } },
    })
    const lost = await unheard(async () => {
      const { status, text = '' } = await request(app)[method](url)
      expect(status).toBe(200)
      expect(text).not.toContain('canary')
      if (method === 'get') expect(text).toMatch(/digest\\+":\\+"[0-9a-f]{12}/)
    })
    expect(lost).toEqual([])
    expect(digestLines(logs)).toMatchObject([{ msg: 'uncaught failure', place: 'deferred' }])
  })

  test('behind a getter of what a deferred value brings, which each reader asks anew', async () => {
    const loader = moduleOf({ loader: () => ({ order: Promise.resolve(getter()) }) })
    const { app } = tinyApp({ routes: { '/': { page: still, loader } } })
    const lost = await unheard(async () => {
      await request(app).get('/').expect(200)
      await request(app).get('/_m/data/').expect(200)
    })
    expect(lost).toEqual([])
  })

  test('behind the refusal of the layout around it', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          ...fallbacks('root'),
          layout: page(({ children }: { children: unknown }) => children),
          layoutLoader: moduleOf({ loader: notFound }),
        },
        '/a': { page: still, loader: moduleOf({ loader: () => ({ order: { receipt: failing() } }) }) },
      },
    })
    expect(await unheard(async () => void (await request(app).get('/a').expect(404)))).toEqual([])
  })

  test.for(['shown as a state', 'sent away'])('in the value of an action that is %s', async (way) => {
    const save = action({ handler: () => ({ receipt: failing(), order: getter() }) })
    const { app, logs } = tinyApp({
      routes: { '/': { page: page(() => <form action={save as never} id="save" />) } },
      actions: { 'actions.server.ts': { save } },
    })
    const lost = await unheard(async () => {
      if (way === 'sent away') {
        const form = await submitForm((await request(app).get('/')).text, '#save', {})
        await request(app).post(form.url).set(form.headers).send(form.body).expect(303)
        return
      }
      const call = request(app).post(`/_m/data/?_action=${actionId('actions.server.ts', 'save')}`)
      const { text } = await call.send({ input: {} }).expect(200)
      expect(text).not.toContain('canary')
      expect(text).toMatch(/digest\\":\\"[0-9a-f]{12}/)
    })
    expect(lost).toEqual([])
    expect(digestLines(logs)[0]).toMatchObject({ msg: 'uncaught failure', place: 'action' })
  })

  test('in a value that is to be kept for all', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          ...fallbacks('root'),
          page: still,
          loader: moduleOf({
            loader: ({ context }: { context: { cached: (...args: unknown[]) => Promise<unknown> } }) =>
              context.cached(['a'], { seconds: 1 }, () => ({ order: { receipt: failing() } })),
          }),
        },
      },
    })
    expect(await unheard(async () => void (await request(app).get('/').expect(500)))).toEqual([])
  })
})

test('a value that a promise in it brings again is sent, and the server goes on', async () => {
  const circle: { readonly size: bigint; self?: Promise<unknown> } = { size: 1n }
  circle.self = Promise.resolve(circle)
  // Where this goes round for ever no other turn comes, and no time limit either: so it is counted.
  let asked = 0
  const then = circle.self.then.bind(circle.self)
  Object.assign(circle.self, {
    // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
    then(...handlers: Parameters<typeof then>) {
      asked += 1
      return asked > 100 ? undefined : then(...handlers)
    },
  })
  const { app } = tinyApp({ routes: { '/': { page: still, loader: moduleOf({ loader: () => [circle] }) } } })
  expect((await request(app).get('/').expect(200)).text).toMatch(/<\/html>$/)
  await request(app).get('/_m/data/').expect(200)
  expect(asked).toBeLessThan(100)
})

test('a promise deep in loader data that never settles is given up with the render', async () => {
  const { app, logs } = tinyApp({
    routes: {
      '/': { page: still, loader: moduleOf({ loader: () => ({ order: { receipt: new Promise(() => undefined) } }) }) },
    },
    environment: { RENDER_TIMEOUT_MS: '50' },
  })
  const { text } = await request(app).get('/').expect(200)
  expect(text).toContain('Still here')
  expect(text).toMatch(/digest\\+":\\+"[0-9a-f]{12}/)
  expect(digestLines(logs)).toMatchObject([{ err: { message: expect.stringContaining('RENDER_TIMEOUT') as string } }])
})

describe('what nobody can look at, thrown by a deferred value, is a failure like any other', () => {
  const trap = (): never => {
    throw new Error('canary')
  }
  const traps = new Proxy({}, { get: () => trap })
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const unreadable = (name: string) => Object.defineProperty(new Error('x'), name, { get: trap })
  const things: readonly [string, unknown][] = [
    ['a proxy whose every trap throws', new Proxy({}, traps)],
    ['a function of that kind', new Proxy(() => undefined, traps)],
    ['a proxy that was revoked', revoked.proxy],
    ['an error without a message', unreadable('message')],
    ['an error without a digest', unreadable('digest')],
    ['an error without a stack', unreadable('stack')],
    ['an error whose message has no text', Object.assign(new Error('x'), { message: Object.create(null) as unknown })],
    // oxlint-disable-next-line unicorn/no-thenable -- React would wait for it
    ['a thenable', { then: () => undefined }],
  ]

  function Hole({ value }: { value: Promise<string> }) {
    return <b>{use(value)}</b>
  }
  const hole = page(({ data }: { data: { value: Promise<string> } }) => (
    <Suspense fallback="waiting">
      <Hole value={data.value} />
    </Suspense>
  ))
  const serving = (thrown: unknown) =>
    tinyApp({
      routes: {
        '/': {
          ...fallbacks('root'),
          page: hole,
          loader: moduleOf({
            loader: () => ({
              value: nextTurn()
                .then(() => nextTurn())
                .then(() => Promise.reject(thrown)),
            }),
          }),
        },
        '/loader': { page: still, loader: moduleOf({ loader: () => Promise.reject(thrown) }) },
        '/handler': { handler: moduleOf({ GET: () => Promise.reject(thrown) }) },
      },
      reports: {},
    })

  test.for(things)('%s', async ([, thrown]) => {
    const { app, logs } = serving(thrown)
    const lost = await unheard(async () => {
      const { text } = await request(app).get('/').expect(200)
      expect(text).toMatch(/<\/html>$/)
      expect(text).toContain('noindex')
      const told = await request(app).get('/').set('User-Agent', CRAWLER).expect(500)
      expect(told.text).toContain('root error server')
      await request(app).get('/_m/data/').expect(200)
      for (const url of ['/loader', '/_m/data/loader', '/handler']) {
        await request(app).get(url).expect(500)
      }
    })
    expect(lost).toEqual([])
    expect(digestLines(logs)).toHaveLength(6)
    expect(JSON.stringify(logs)).not.toContain('canary')
  })
})

test('a deferred value that brings what cannot be looked at ends no process', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const loader = (): unknown => ({ order: Promise.resolve({ late: Promise.resolve(1), proxy }) })
  const { app } = tinyApp({ routes: { '/': { page: still, loader: moduleOf({ loader }) } } })
  const reasons = await unheard(async () => {
    await request(app).head('/').expect(200)
    await request(app).get('/').set('User-Agent', CRAWLER)
  })
  expect(reasons).toEqual([])
})
