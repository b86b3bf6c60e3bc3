/** Forms that stand where a page was refused: in the layouts around it, and in the fallback itself. */
import { submitForm } from 'millrace/testing'
import { useActionState } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { unauthorized } from '../../src/shared/control-flow.ts'
import { isInvalidInput } from '../../src/shared/action-result.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'
const PASSWORD = 'open sesame'

/** A site whose members' pages show a form for signing in to everybody else, and whose layout has forms of its own. */
async function membersApp({ closed = false } = {}) {
  const ran: string[] = []
  const password = z.string().max(20, 'is too long')
  const handler = ({ input, context }: { input: { password: string }; context: { headers: Headers } }) => {
    ran.push('sign in')
    if (input.password !== PASSWORD) return { refused: 'That is not it.' }
    context.headers.append('Set-Cookie', 'member=yes; Path=/')
    return undefined
  }
  const actions = {
    signIn: action({ guarded: false, input: z.object({ password }), secret: ['password'], handler }),
    subscribe: action({
      input: z.object({ email: z.email('is no address') }),
      handler: ({ input }) => {
        ran.push('subscribe')
        return { thanks: input.email }
      },
    }),
    quiet: action({ handler: () => void ran.push('quiet') }),
  }

  function SignIn() {
    const [state, submit] = useActionState(actions.signIn, null)
    const said = isInvalidInput(state) ? state.errors['password']?.[0] : state?.refused
    return (
      <form action={submit} id="sign-in">
        <input name="password" />
        <output>{said}</output>
      </form>
    )
  }
  function Layout({ children }: { children: never }) {
    const [state, submit] = useActionState(actions.subscribe, null)
    const said = isInvalidInput(state) ? state.errors['email']?.[0] : state?.thanks
    return (
      <main>
        <form action={submit} id="subscribe">
          <input name="email" />
          <output>{said}</output>
        </form>
        <form action={actions.quiet as never} id="quiet" />
        {children}
      </main>
    )
  }
  const letMembers = ({ context }: LoaderArgs): void => {
    if (context.cookie('member') !== 'yes') unauthorized()
  }

  const { app } = tinyApp({
    routes: {
      '/': {
        layout: page(Layout),
        ...(closed ? { layoutLoader: moduleOf({ loader: letMembers }) } : {}),
        unauthorized: moduleOf({ default: SignIn }),
        notFound: moduleOf({ default: () => <p>no such page</p> }),
      },
      '/members': {
        layout: page(({ children }: { children: never }) => children),
        layoutLoader: moduleOf({ loader: letMembers }),
      },
      '/members/news': { page: page(() => <p>news</p>) },
      '/account': { page: page(() => <p>account</p>), loader: moduleOf({ loader: letMembers }) },
    } as never,
    actions: { [MODULE]: actions },
  })

  async function send(path: string, id: string, fields: Record<string, string> = {}) {
    const { text } = await request(app).get(path)
    const form = await submitForm(text, `#${id}`, fields)
    return request(app).post(form.url).set(form.headers).send(form.body)
  }
  const read = (path: string) => request(app).get(path)
  const post = (path: string, name: string, body = '') =>
    request(app)
      .post(`${path}?_action=${actionId(MODULE, name)}`)
      .type('form')
      .send(body)
  async function call(path: string, name: string, input: object) {
    const answer = await request(app)
      .post(`/_m/data${path}?_action=${actionId(MODULE, name)}`)
      .set('X-Millrace-Build', 'development')
      .buffer(true)
      .parse((res, done) => {
        let text = ''
        res.on('data', (chunk: Buffer) => (text += String(chunk)))
        res.on('end', () => done(null, text))
      })
      .send({ input })
    const records = String(answer.body)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    return { status: answer.status, records }
  }
  return { ran, read, send, post, call }
}

const said = (html: string, id: string): string | undefined =>
  new RegExp(`id="${id}".*?<output>(.*?)</output>`, 's').exec(html)?.[1]

describe('the page of a URL that names none', () => {
  test('takes the forms of its layout', async () => {
    const { send, ran } = await membersApp()
    const quiet = await send('/nope?a=1', 'quiet')
    expect([quiet.status, quiet.headers['location']]).toEqual([303, '/nope?a=1'])
    const thanks = await send('/nope', 'subscribe', { email: 'ann@example.com' })
    expect([thanks.status, said(thanks.text, 'subscribe')]).toEqual([404, 'ann@example.com'])
    const wrong = await send('/nope', 'subscribe', { email: 'ann' })
    expect([wrong.status, said(wrong.text, 'subscribe')]).toEqual([422, 'is no address'])
    expect(wrong.text).toContain('no such page')
    expect(ran).toEqual(['quiet', 'subscribe'])
  })

  test('takes calls of the client router', async () => {
    const { call, ran } = await membersApp()
    const { status, records } = await call('/nope', 'subscribe', { email: 'ann@example.com' })
    expect([status, records[0]]).toMatchObject([200, { route: null }])
    expect(records[1]).toMatchObject({ segment: '#action', data: { value: { thanks: 'ann@example.com' } } })
    expect(records[2]).toEqual({ outcome: { kind: 'notFound', at: 0 } })
    expect((await call('/nope', 'subscribe', { email: 'ann' })).status).toBe(422)
    expect(ran).toEqual(['subscribe'])
  })

  test('is no way around what guards the whole site', async () => {
    const { read, post, call, ran } = await membersApp({ closed: true })
    expect((await read('/nope')).status).toBe(401)
    expect((await post('/nope', 'quiet')).status).toBe(401)
    expect((await call('/nope', 'quiet', {})).status).toBe(401)
    expect((await post('/nope', 'subscribe', 'email=ann@example.com')).status).toBe(401)
    expect(ran).toEqual([])
  })
})

describe.for(['/members/news', '/account'])('the page of a 401 at %s', (path) => {
  test('signs in', async () => {
    const { send, call, ran } = await membersApp()
    const answer = await send(path, 'sign-in', { password: PASSWORD })
    expect([answer.status, answer.headers['location']]).toEqual([303, path])
    expect(answer.headers['set-cookie']).toEqual(['member=yes; Path=/'])
    const { status, records } = await call(path, 'signIn', { password: PASSWORD })
    expect(status).toBe(200)
    expect(records.some(({ outcome }) => outcome !== undefined)).toBe(false)
    expect(ran).toEqual(['sign in', 'sign in'])
  })

  test('says what was wrong', async () => {
    const { send, call } = await membersApp()
    const refused = await send(path, 'sign-in', { password: 'please' })
    expect([refused.status, said(refused.text, 'sign-in')]).toEqual([401, 'That is not it.'])
    expect(refused.text).toContain('noindex')
    const wrong = await send(path, 'sign-in', { password: 'x'.repeat(21) })
    expect([wrong.status, said(wrong.text, 'sign-in')]).toEqual([422, 'is too long'])
    const { status, records } = await call(path, 'signIn', { password: 'please' })
    expect([status, records[1]]).toMatchObject([200, { data: { value: { refused: 'That is not it.' } } }])
    expect(records.find(({ outcome }) => outcome !== undefined)).toMatchObject({ outcome: { kind: 'unauthorized' } })
  })
})

test('a guard still stands in front of all other actions of a page that it refuses', async () => {
  const { send, call, ran } = await membersApp()
  expect((await send('/members/news', 'quiet')).status).toBe(401)
  expect((await call('/members/news', 'quiet', {})).status).toBe(401)
  expect(ran).toEqual([])
})
