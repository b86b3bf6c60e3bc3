import { submitForm } from 'millrace/testing'
import { useActionState } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { isInvalidInput } from '../../src/shared/action-result.ts'
import { forbidden, notFound, permanentRedirect, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { portOf } from '../support/listening.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'

/** A server with one action of each kind, and what they have done. */
async function actionApp() {
  const ran: unknown[] = []
  const input = z.object({
    name: z.string().min(1, 'is missing').max(5, 'is too long'),
    tags: z.array(z.string()).default([]),
  })
  const actions = {
    save: action({
      input,
      secret: ['password'],
      handler: ({ input: saved, state }) => {
        ran.push([saved.name, state])
        return { saved: saved.name }
      },
    }),
    quiet: action({ input, handler: ({ input: { name } }) => void ran.push(name) }),
    remove: action({ args: z.tuple([z.number()]), handler: ({ args: [id] }) => void ran.push(id) }),
    leave: action({ handler: () => redirect('/there') }),
    escape: action({ handler: () => redirect('//evil.test') }),
    none: action({ handler: () => notFound() }),
    no: action({ handler: () => forbidden() }),
    who: action({ handler: () => unauthorized() }),
    fail: action({
      handler: () => {
        throw new Error('a secret')
      },
    }),
    cookie: action({
      handler: ({ context }) => {
        context.headers.append('Set-Cookie', 'user=ann; Path=/')
      },
    }),
  }

  function Form() {
    const [state, save] = useActionState(actions.save, null)
    return (
      <main>
        <form action={save} id="save">
          <input name="name" defaultValue={isInvalidInput(state) ? String(state.values['name']) : ''} />
          <input name="password" />
          <output>{JSON.stringify(state)}</output>
        </form>
        {Object.entries(actions).map(([name, one]) => (
          <form
            key={name}
            id={`plain-${name}`}
            action={name === 'remove' ? actions.remove.bind(null, 7) : (one as never)}
          >
            <input name="name" />
          </form>
        ))}
      </main>
    )
  }

  const passed: string[] = []
  const { app, logs } = tinyApp({
    routes: {
      '/': { ...fallbacks('root') },
      '/form': { page: page(Form) },
      '/guarded': {
        page: page(Form),
        loader: moduleOf({ guards: true, loader: () => unauthorized() }),
      },
      '/guarded/away': {
        page: page(Form),
        loader: moduleOf({ guards: true, loader: () => redirect('/sign-in') }),
      },
      '/signed-out': {
        page: page(Form),
        loader: moduleOf({
          loader: () => {
            if (ran.length > 0) permanentRedirect('/sign-in')
          },
        }),
      },
      '/plain': { page: page(() => <p>plain</p>) },
    } as never,
    environment: { ORIGIN: 'http://good.test', MAX_PENDING_RENDERS: '1' },
    actions: { 'actions.server.ts': actions },
    middleware: [
      (req, _res, next) => {
        passed.push(req.method)
        next()
      },
    ],
  })
  const get = async (path = '/form?page=2') => (await request(app).get(path).set('Host', 'good.test').expect(200)).text
  const send = async (id: string, fields: Record<string, string>, path = '/form?page=2') => {
    const form = await submitForm(await get(path), `#${id}`, fields)
    return request(app).post(form.url).set('Host', 'good.test').set(form.headers).send(form.body)
  }
  return { app, logs, ran, passed, get, send }
}

describe('a form that is sent without script', () => {
  test('goes back to its own page when the action returns nothing', async () => {
    const { send, ran } = await actionApp()
    const answer = await send('plain-quiet', { name: 'ann' })
    expect(answer.status).toBe(303)
    expect(answer.headers['location']).toBe('/form?page=2')
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(ran).toEqual(['ann'])
  })

  test('shows what the action returned', async () => {
    const { send, ran } = await actionApp()
    const answer = await send('save', { name: 'ann' })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('{&quot;saved&quot;:&quot;ann&quot;}')
    expect(answer.text).toContain('"posted":[{"saved":"ann"},"k')
    // Back shows it again; a browser cannot load it by its URL.
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    expect(answer.headers['etag']).toBeUndefined()
    expect(ran).toEqual([['ann', undefined]])
  })

  test('shows what is wrong with it and what was typed, and nothing has run', async () => {
    const { send, ran } = await actionApp()
    const answer = await send('save', { name: 'annabel', password: 'hunter2' })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('is too long')
    expect(answer.text).toContain('value="annabel"')
    expect(answer.text).not.toContain('hunter2')
    expect(ran).toEqual([])
  })

  test('brings the arguments that the page has bound', async () => {
    const { send, ran } = await actionApp()
    expect((await send('plain-remove', {})).status).toBe(303)
    expect(ran).toEqual([7])
  })

  test('leads where the action redirects to, by 303', async () => {
    const { send } = await actionApp()
    const answer = await send('plain-leave', {})
    expect([answer.status, answer.headers['location']]).toEqual([303, '/there'])
  })

  test('leads to no other site', async () => {
    const { send } = await actionApp()
    const answer = await send('plain-escape', {})
    expect([answer.status, answer.headers['location']]).toEqual([500, undefined])
  })

  test.for([
    ['plain-none', 404, 'root not found'],
    ['plain-no', 403, 'root forbidden'],
    ['plain-who', 401, 'root unauthorized'],
  ] as const)('%s shows the full fallback page with status %i', async ([id, status, text]) => {
    const { send } = await actionApp()
    const answer = await send(id, {})
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
  })

  test('that fails shows the error page with the digest of the log, and nothing else', async () => {
    const { send, logs } = await actionApp()
    const answer = await send('plain-fail', {})
    expect(answer.status).toBe(500)
    const failure = logs.find(({ msg }) => msg === 'uncaught failure')
    expect(failure).toMatchObject({ place: 'action' })
    expect(answer.text).toContain(`root error server ${String(failure?.['digest'])}`)
    expect(answer.text).not.toContain('a secret')
  })

  test('sets the cookies of its action', async () => {
    const { send } = await actionApp()
    expect((await send('plain-cookie', {})).headers['set-cookie']).toEqual(['user=ann; Path=/'])
  })

  test('to the plain URL of its page is known by its hidden field', async () => {
    const { app, get, ran } = await actionApp()
    const form = await submitForm(await get(), '#plain-quiet', { name: 'ann' })
    await request(app).post('/form').set('Host', 'good.test').set(form.headers).send(form.body).expect(303)
    expect(ran).toEqual(['ann'])
  })

  test('twice runs once; changed, it is another', async () => {
    const { app, get, ran } = await actionApp()
    const html = await get()
    for (const name of ['ann', 'ann', 'bob']) {
      const { url, headers, body } = await submitForm(html, '#plain-quiet', { name })
      await request(app).post(url).set('Host', 'good.test').set(headers).send(body).expect(303)
    }
    expect(ran).toEqual(['ann', 'bob'])
  })

  test('with the key and the input of another visitor, runs for this one, and gives nobody else’s cookie', async () => {
    const { app, get, ran } = await actionApp()
    const { url, headers, body } = await submitForm(await get(), '#plain-quiet', { name: 'ann' })
    for (const cookie of [
      'user=ann',
      'theme=dark; user=ann',
      '_ga=1; user=ann; theme=light',
      'user=bob',
      '',
      'theme=dark',
    ]) {
      await request(app).post(url).set('Host', 'good.test').set(headers).set('Cookie', cookie).send(body)
    }
    expect(ran).toHaveLength(3)
  })

  test('twice runs once with files as well; another file is another', async () => {
    const { app, get, ran } = await actionApp()
    const { url: to, entries } = await submitForm(await get(), '#plain-quiet', { name: 'ann' })
    for (const [content, name] of [
      ['', ''], // as browsers send a field for files that was left empty
      ['', ''],
      ['one', 'a.txt'],
      ['one', 'a.txt'],
      ['two', 'a.txt'],
      ['two', 'b.txt'],
    ] as const) {
      const form = new FormData()
      for (const [field, value] of entries) form.append(field, value)
      form.append('photo', new File([content], name))
      const sent = new Response(form)
      await request(app)
        .post(to)
        .set('Host', 'good.test')
        .set('Content-Type', sent.headers.get('content-type') ?? '')
        .send(Buffer.from(await sent.arrayBuffer()))
        .expect(303)
    }
    expect(ran).toHaveLength(4)
  })

  test('meets the guards of its page before it runs', async () => {
    const { app, get, ran } = await actionApp()
    const form = await submitForm(await get(), '#plain-quiet', { name: 'ann' })
    const to = form.url.replace('/form?page=2', '/guarded?')
    const answer = await request(app).post(to).set('Host', 'good.test').set(form.headers).send(form.body)
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('root unauthorized')
    expect(ran).toEqual([])
  })
})

describe('a form is never sent on to another page, whoever leads there:', () => {
  test('a guard of its page, in front of the action', async () => {
    const { app, get, ran } = await actionApp()
    const form = await submitForm(await get(), '#plain-quiet', { name: 'ann' })
    const to = form.url.replace('/form?page=2', '/guarded/away?')
    const answer = await request(app).post(to).set('Host', 'good.test').set(form.headers).send(form.body)
    expect([answer.status, answer.headers['location'], ran]).toEqual([303, '/sign-in', []])
  })

  test('a loader of its page, behind the action', async () => {
    const { send, get, app } = await actionApp()
    const answer = await send('save', { name: 'ann' }, '/signed-out')
    expect([answer.status, answer.headers['location']]).toEqual([303, '/sign-in'])
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(await get('/form')).toContain('<form')
    await request(app).get('/signed-out').set('Host', 'good.test').expect(308)
  })
})

describe('a call is refused, and has not run,', () => {
  test.for([
    ['from another site', { Origin: 'https://evil.test' }, 403],
    ['from a sandboxed frame', { Origin: 'null' }, 403],
    ['from a look-alike', { Origin: 'http://good.test.evil.test' }, 403],
    ['from another port', { Origin: 'http://good.test:444' }, 403],
    ['when the browser says so', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['as plain text', { 'Content-Type': 'text/plain' }, 415],
    ['as bytes', { 'Content-Type': 'application/octet-stream' }, 415],
    ['as JSON', { 'Content-Type': 'application/json' }, 415],
  ] as const)('%s', async ([, headers, status]) => {
    const { app, get, ran, passed } = await actionApp()
    const form = await submitForm(await get(), '#plain-quiet', { name: 'ann' })
    const answer = await request(app)
      .post(form.url)
      .set({ Host: 'good.test', ...form.headers, ...headers })
      .send(form.body)
    expect(answer.status).toBe(status)
    expect(ran).toEqual([])
    // Not even the application's middleware has seen what comes from elsewhere.
    expect(passed.includes('POST')).toBe(status !== 403)
  })

  test.for(['0'.repeat(40), '../x', 'toString', '__proto__', 'constructor', ''])('of the id %j: 404', async (id) => {
    const { app, passed } = await actionApp()
    const answer = await request(app)
      .post(`/form?_action=${id}.0`)
      .set({ Host: 'good.test', 'Content-Type': 'application/x-www-form-urlencoded' })
      .send('name=ann')
    expect(answer.status).toBe(404)
    expect(answer.text.length).toBeLessThan(1_000)
    expect(passed).toEqual([])
  })

  test('with arguments that somebody has altered', async () => {
    const { app, get, ran } = await actionApp()
    const form = await submitForm(await get(), '#plain-remove', {})
    const body = String(form.body)
    const altered = body.replace(/(name="\$ACTION_ARGS\d+"\r\n\r\n)(.)(.)/, '$1$3$2x')
    expect(altered).not.toBe(body)
    await request(app)
      .post(form.url)
      .set({ Host: 'good.test', ...form.headers })
      .send(altered)
      .expect(400)
    expect(ran).toEqual([])
  })

  test('that is too large: 413', async () => {
    const { app, get, ran } = await actionApp()
    const form = await submitForm(await get(), '#plain-quiet', { name: 'x'.repeat(1_100_000) })
    const answer = await request(app)
      .post(form.url)
      .set({ Host: 'good.test', ...form.headers })
      .send(form.body)
    expect(answer.status).toBe(413)
    expect(ran).toEqual([])
  })
})

test('a page without an action takes no POST', async () => {
  const { app } = await actionApp()
  const answer = await request(app).post('/plain').set('Host', 'good.test').type('form').send('a=b')
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS'])
  await request(app).post('/plain').set('Host', 'good.test').type('form').set('Origin', 'null').send('a=b').expect(403)
})

test('the URL of a form that was refused is no page of its own', async () => {
  const { app } = await actionApp()
  const answer = await request(app).get('/form?page=2&_action=abc.1').set('Host', 'good.test')
  expect([answer.status, answer.headers['location']]).toEqual([303, '/form?page=2'])
})

test('a form that comes slowly keeps nobody from the pages', async () => {
  const { app } = await actionApp()
  const port = await portOf(app)
  using slow = await connectRaw(port)
  await slow.send(
    'POST /form HTTP/1.1\r\nHost: good.test\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 900\r\n\r\na=b',
  )
  for (let count = 0; count < 3; count += 1) {
    expect((await requestRaw(port, getRequest('/form', {}, 'good.test'))).status).toBe(200)
  }
})
