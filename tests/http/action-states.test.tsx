/** What goes wrong and is shown by the form itself: a failure of the handler, and files that are too large. */
import { useActionState } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Field } from '../../src/client/index.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { UnavailableError } from '../../src/server/http/unavailable-error.ts'
import { action, type ActionCall } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { refuseInput } from '../../src/server/api/refuse-input.ts'
import { redirectBack } from '../../src/server/api/redirect-back.ts'
import { submitForm } from 'millrace/testing'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'

async function statesApp(language?: string, tooLarge: string | (() => string) = 'Zu groß.') {
  const ran: string[] = []
  const failing = () => {
    ran.push('failed')
    throw new Error('a secret of this failure')
  }
  const readAll = async ({ files }: ActionCall<unknown>) => {
    for await (const { stream } of files) await stream.toArray()
    ran.push('read')
    return { kind: 'read' as const }
  }
  const actions = {
    fail: action({ failure: 'state', secret: ['pin'], handler: failing }),
    busy: action({
      failure: 'state',
      handler: () => {
        throw new UnavailableError('later', { retryAfter: 7 })
      },
    }),
    crash: action({ handler: failing }),
    taken: action({
      secret: ['pin'],
      handler: () => refuseInput({ note: 'This note is taken.', '': ['One.', 'Two.'] }),
    }),
    remove: action({ failure: 'state', args: z.tuple([z.number()]), handler: failing }),
    upload: action({ upload: { files: 1, fileBytes: 2_000, totalBytes: 5_000 }, handler: readAll }),
    photo: action({ upload: { files: 1, fileBytes: 2_000 }, handler: readAll }),
    several: action({ upload: { files: 2, fileBytes: 2_000 }, tooLarge, handler: readAll }),
    attach: action({ bodyLimit: 3_000, tooLarge, handler: () => void ran.push('attached') }),
  }
  type Name = keyof typeof actions

  function StateForm({ name }: { readonly name: Exclude<Name, 'remove'> }) {
    const [state, save] = useActionState(actions[name] as typeof actions.fail, null)
    return (
      <form action={save} id={name}>
        <Field name="note" label="Note" state={state} id={`${name}-note`} />
        <Field name="file" label="File" state={state} id={`${name}-file`} />
        <output>{JSON.stringify(state)}</output>
      </form>
    )
  }

  function RemoveForm() {
    const [state, remove] = useActionState(actions.remove.bind(null, 7), null)
    return (
      <form action={remove} id="remove">
        <output>{state?.kind}</output>
      </form>
    )
  }

  function Page() {
    return (
      <>
        <StateForm name="fail" />
        <StateForm name="busy" />
        <StateForm name="crash" />
        <StateForm name="taken" />
        <StateForm name="upload" />
        <StateForm name="photo" />
        <StateForm name="several" />
        <StateForm name="attach" />
        <RemoveForm />
        <form id="plain" action={actions.fail as never} />
        <form id="plain-upload" action={actions.upload as never} />
      </>
    )
  }

  const { app, logs } = tinyApp({
    ...(language === undefined ? {} : { texts: () => ({ language }) }),
    routes: {
      '/': fallbacks('root'),
      '/list': { page: page(Page), loader: moduleOf({ loader: ({ search }: LoaderArgs) => ({ all: search['all'] }) }) },
    } as never,
    environment: { ORIGIN: 'http://good.test' },
    actions: { [MODULE]: actions },
  })
  const post = (path: string) => request(app).post(path).set('Host', 'good.test')
  const send = async (id: string, fields: Record<string, string> = {}, ...files: string[]) => {
    const { text } = await request(app).get('/list').set('Host', 'good.test').expect(200)
    const { url, entries } = await submitForm(text, `#${id}`)
    // What a visitor sends need not be what the form has.
    const sent = new FormData()
    for (const [name, value] of entries) if (name.startsWith('$ACTION')) sent.append(name, value)
    for (const [name, value] of Object.entries(fields)) sent.append(name, value)
    for (const file of files) sent.append('file', new File([file], 'a.bin'))
    const body = new Response(sent)
    return post(url)
      .set('Content-Type', body.headers.get('content-type') ?? '')
      .send(Buffer.from(await body.arrayBuffer()))
  }
  /** A call of the client router. */
  const call = async (name: Name, leading: readonly unknown[], fields: Record<string, string> = {}, file?: string) => {
    const calling = post(`/_m/data/list?_action=${actionId(MODULE, name)}`).set('X-Millrace-Build', 'development')
    void calling.field('$ACTION_ARGS', JSON.stringify(leading))
    for (const [field, value] of Object.entries(fields)) void calling.field(field, value)
    const answer = await (file === undefined ? calling : calling.attach('file', Buffer.from(file), 'a.bin')).buffer(
      true,
    )
    const lines = (answer.text || String(answer.body)).trim().split('\n')
    return { status: answer.status, lines }
  }
  const failures = () => logs.filter(({ msg }) => msg === 'uncaught failure')
  return { ran, send, call, failures }
}

const shownIn = (html: string): string =>
  (/<output>(\{.*?\})<\/output>/.exec(html)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&#x27;', "'")

describe('an input that the handler refuses', () => {
  test('is shown as one that the schema refuses: 422, with what was typed, and no failure', async () => {
    const { send, call, failures } = await statesApp()
    const { status, text } = await send('taken', { note: 'typed', pin: '1234' })
    expect(status).toBe(422)
    const refused = { kind: 'invalid', errors: { note: ['This note is taken.'], '': ['One.', 'Two.'] }, omitted: [] }
    expect(JSON.parse(shownIn(text))).toEqual({ ...refused, values: { note: 'typed' } })
    const called = await call('taken', [null], { note: 'typed' })
    expect(called.lines.join()).toContain('This note is taken.')
    expect(failures()).toEqual([])
  })
})

describe('a failure that its form shows', () => {
  test('keeps the page and what was typed, without script: 500, and nothing of it but its digest', async () => {
    const { send, failures } = await statesApp()
    const { status, text, headers } = await send('fail', { note: 'typed', pin: '1234', password: 'x' })
    expect(status).toBe(500)
    expect(headers['cache-control']).toContain('no-store')
    const [failure] = failures()
    expect(JSON.parse(shownIn(text))).toEqual({
      kind: 'failed',
      digest: failure?.['digest'],
      values: { note: 'typed' },
      omitted: [],
    })
    expect(text).toContain('value="typed"')
    expect(text).not.toMatch(/a secret of this failure|1234/)
    expect(failures()).toHaveLength(1)
    expect(failure).toMatchObject({ place: 'action' })
  })

  test('is a state for the client router, with no data of the page', async () => {
    const { call, failures } = await statesApp()
    const { status, lines } = await call('fail', [null], { note: 'typed' })
    expect(status).toBe(500)
    const digest = failures()[0]?.['digest']
    expect(lines.slice(1).map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        segment: '#action',
        data: { errors: {}, failed: { kind: 'failed', digest }, secret: ['pin'] },
        lifetime: 0,
      },
      { done: true },
    ])
    expect(lines.join('')).not.toContain('a secret of this failure')
  })

  test('with bound arguments is one too', async () => {
    const { send, call } = await statesApp()
    const { status, text } = await send('remove')
    expect([status, /id="remove".*?<output>(\w+)</s.exec(text)?.[1]]).toEqual([500, 'failed'])
    expect((await call('remove', [7, null])).lines[1]).toContain('"failed"')
  })

  test('keeps its status where the handler says that something is down', async () => {
    const { send, call } = await statesApp()
    expect((await send('busy')).status).toBe(503)
    expect((await call('busy', [null])).status).toBe(503)
  })

  test('shows no state where none is asked for: the error page has it', async () => {
    const { send, call } = await statesApp()
    for (const id of ['plain', 'crash']) {
      const { status, text } = await send(id)
      expect([id, status]).toEqual([id, 500])
      expect(text).toContain('root error server')
    }
    for (const answer of [await call('fail', []), await call('crash', [null]), await call('remove', [7])]) {
      expect(answer.status).toBe(500)
      expect(answer.lines[1]).toContain('"error"')
    }
  })

  test('runs again when it is sent again', async () => {
    const { send, ran } = await statesApp()
    await send('fail')
    await send('fail')
    expect(ran).toEqual(['failed', 'failed'])
  })

  test('is not sent back as a former state', async () => {
    const { call } = await statesApp()
    const failed = { kind: 'failed', digest: 'x', values: { note: 'y'.repeat(1_000) }, omitted: [] }
    expect((await call('fail', [failed])).lines[1]).toContain('"failed"')
  })
})

describe('a file that is too large is the fault of its field', () => {
  const LARGE = 'x'.repeat(2_001)

  test('while it is read: 413, with what was typed', async () => {
    const { send, ran } = await statesApp()
    const { status, text } = await send('upload', { note: 'typed' }, LARGE)
    expect(status).toBe(413)
    expect(JSON.parse(shownIn(text))).toEqual({
      kind: 'invalid',
      errors: { file: ['Too large: at most 2 kB.'] },
      values: { note: 'typed' },
      omitted: ['file'],
    })
    expect(text).toMatch(/<p id="upload-file-error">Too large: at most 2 kB.<\/p>/)
    expect(text).toMatch(/id="upload-file"[^>]*aria-describedby="upload-file-error" aria-invalid="true"/)
    expect(ran).toEqual([])
  })

  test('by its announced length, before the handler runs', async () => {
    const { send, ran } = await statesApp()
    const { status, text } = await send('upload', { note: 'typed' }, 'x'.repeat(6_000))
    expect(status).toBe(413)
    expect(JSON.parse(shownIn(text))).toMatchObject({ errors: { file: ['Too large: at most 5 kB.'] } })
    expect(ran).toEqual([])
  })

  test('with the limit of one file, where the action names no total', async () => {
    const { send, ran } = await statesApp()
    const { status, text } = await send('photo', { note: 'typed' }, 'x'.repeat(1_200_000))
    expect(status).toBe(413)
    expect(JSON.parse(shownIn(text))).toMatchObject({ errors: { file: ['Too large: at most 2 kB.'] } })
    expect(ran).toEqual([])
  })

  test('where it is one file too many, in words for that', async () => {
    const { send, ran } = await statesApp()
    const { status, text } = await send('several', { note: 'typed' }, 'one', 'two', 'three')
    expect(status).toBe(413)
    expect(JSON.parse(shownIn(text))).toEqual({
      kind: 'invalid',
      errors: { file: ['Too many files: at most 2.'] },
      values: { note: 'typed' },
      omitted: ['file'],
    })
    expect(ran).toEqual([])
  })

  test('in memory, in the application’s own words', async () => {
    const { send, ran } = await statesApp()
    const { status, text } = await send('attach', { note: 'typed' }, 'x'.repeat(4_000))
    expect(status).toBe(413)
    expect(JSON.parse(shownIn(text))).toMatchObject({ errors: { file: ['Zu groß.'] }, values: { note: 'typed' } })
    expect(ran).toEqual([])
  })

  test.for(['a b', 'de_DE', 'x', ''])('in English where the language is no language: %j', async (language) => {
    const { send } = await statesApp(language)
    const { status, text } = await send('upload', { note: 'typed' }, LARGE)
    expect(status).toBe(413)
    expect(JSON.parse(shownIn(text))).toMatchObject({ errors: { file: ['Too large: at most 2 kB.'] } })
  })

  test('in the built-in words where the application’s own fail', async () => {
    const { send, failures } = await statesApp(undefined, () => {
      throw new Error('no words')
    })
    const { status, text } = await send('attach', { note: 'typed' }, 'x'.repeat(4_000))
    expect(status).toBe(413)
    expect(JSON.parse(shownIn(text))).toMatchObject({ errors: { file: ['Too large: at most 3 kB.'] } })
    expect(JSON.stringify(failures())).toContain('no words')
  })

  test('for the client router', async () => {
    const { call } = await statesApp()
    for (const [name, file, fault] of [
      ['upload', LARGE, 'Too large: at most 2 kB.'],
      ['upload', 'x'.repeat(6_000), 'Too large: at most 5 kB.'],
      ['attach', 'x'.repeat(4_000), 'Zu groß.'],
    ] as const) {
      const { status, lines } = await call(name, [null], {}, file)
      expect([name, status]).toEqual([name, 413])
      expect(JSON.parse(lines[1] ?? '')).toMatchObject({ segment: '#action', data: { errors: { file: [fault] } } })
    }
  })

  test('and a plain 413 where no state shows it, or the fields themselves are too much', async () => {
    const { send, call } = await statesApp()
    for (const answer of [
      await send('plain-upload', {}, LARGE),
      await send('attach', { note: 'x'.repeat(4_000) }),
      await send('upload', { note: 'x'.repeat(6_000) }),
    ]) {
      expect(answer.status).toBe(413)
      expect(answer.text).toContain('more than this page takes')
    }
    expect((await call('upload', [], {}, LARGE)).lines[0]).toContain('over its limit')
  })
})

describe('a form with fields that nobody declared', () => {
  test('is refused by 413 with a million of them, and keeps names of prototypes apart', async () => {
    const { call, send } = await statesApp()
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`f${index}`, '']))
    expect((await send('fail', many)).status).toBe(413)
    expect((await call('fail', [null], { constructor: 'x' })).status).toBeOneOf([400, 500])
    const { status, text } = await send('fail', { other: 'x', toString: 'y' })
    expect([400, 500]).toContain(status)
    expect(text).not.toContain('[native code]')
  })
})

describe('redirectBack', () => {
  async function backApp() {
    const leave = action({ handler: ({ request: page }) => redirectBack(page, '/otherwise') })
    const { app } = tinyApp({
      routes: {
        '/': fallbacks('root'),
        '/list': { page: page(() => <form id="leave" action={leave as never} />) },
        '/theme': { handler: moduleOf({ POST: ({ request: sent }: LoaderArgs) => redirectBack(sent, '/otherwise') }) },
      } as never,
      environment: { ORIGIN: 'http://good.test' },
      actions: { [MODULE]: { leave } },
    })
    return app
  }

  test.for([
    ['http://good.test/list?page=2', '/list?page=2'],
    ['http://evil.test/list', '/otherwise'],
    ['http://good.test//evil.test', '/otherwise'],
    ['http://good.test/\\evil.test', '/otherwise'],
  ])('of a resource route, with the Referer %s, leads to %s', async ([referer, to]) => {
    const app = await backApp()
    const { status, headers } = await request(app).post('/theme').set({ Host: 'good.test', Referer: referer })
    expect([status, headers['location']]).toEqual([303, to])
  })

  test('of an action leads to the page with the form', async () => {
    const app = await backApp()
    const send = async (referer: string) => {
      const { text } = await request(app).get('/list?page=2').set('Host', 'good.test').expect(200)
      const form = await submitForm(text, '#leave')
      return request(app)
        .post(form.url)
        .set({ ...form.headers, Host: 'good.test', Referer: referer })
        .send(form.body)
    }
    expect((await send('http://good.test/list?page=2')).headers['location']).toBe('/list?page=2')
    expect((await send('http://evil.test/')).headers['location']).toBe('/otherwise')
  })
})
