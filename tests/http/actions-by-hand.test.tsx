import { Suspense, use, useActionState } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { isInvalidInput } from '../../src/shared/action-result.ts'
import { ID_FIELD } from '../../src/shared/protocol/action-call.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { submitForm } from 'millrace/testing'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const SAVE = actionId('actions.server.ts', 'save')

/** Pages with forms of one action; what is sent to them has none of their hidden fields. */
function handApp() {
  const save = action({
    input: z.object({ name: z.string().max(5, 'is too long') }),
    handler: ({ input }) => ({ saved: input.name }),
  })
  const remove = action({ args: z.tuple([z.number()]), handler: ({ args: [id] }) => ({ kept: `kept ${id}` }) })

  function Form({ id }: { id: string }) {
    const [state, submit] = useActionState(save, null)
    return (
      <form action={submit} id={id}>
        <input name="name" defaultValue={isInvalidInput(state) ? String(state.values['name']) : ''} />
        <output>{isInvalidInput(state) ? state.errors['name'] : 'nothing yet'}</output>
      </form>
    )
  }

  const One = () => (
    <main>
      <Form id="one" />
      <form action={save as never} id="plain" />
    </main>
  )
  const Two = () => (
    <main>
      <Form id="one" />
      <Form id="two" />
    </main>
  )
  function Late({ data }: { data: { later: Promise<string> } }) {
    return (
      <Suspense fallback="waiting">
        <After later={data.later} />
      </Suspense>
    )
  }
  function After({ later }: { later: Promise<string> }) {
    return <Form id={use(later)} />
  }
  /** Two of one action, each with an argument of its own. */
  function Row({ id }: { id: number }) {
    const [state, submit] = useActionState(remove.bind(null, id), null)
    return (
      <form action={submit} id={`row-${id}`}>
        <output>{isInvalidInput(state) ? 'nothing yet' : (state?.kept ?? 'nothing yet')}</output>
      </form>
    )
  }
  const Rows = () => (
    <main>
      <Row id={7} />
      <Row id={8} />
    </main>
  )
  const loader = () => ({ later: new Promise((resolve) => setImmediate(() => resolve('late'))) })

  const { app } = tinyApp({
    routes: {
      '/one': { page: page(One) },
      '/two': { page: page(Two) },
      '/late': { page: page(Late as never), loader: moduleOf({ loader }) },
      '/rows': { page: page(Rows) },
      '/none': { page: page(() => <p>none</p>) },
    } as never,
    actions: { 'actions.server.ts': { save, remove } },
  })
  return {
    byHand: (path: string, body: string) => request(app).post(path).type('form').send(body),
    /** Sends a form of the page as another build has written it: React's key for it was another one. */
    async ofFormerBuild(path: string, id: string, fields: Record<string, string>) {
      const { text } = await request(app).get(path)
      const { url, headers, body } = await submitForm(text, `#${id}`, { ...fields, $ACTION_KEY: 'kformer' })
      return request(app).post(url).set(headers).send(body)
    },
  }
}

describe('a form that comes without its hidden fields, and is not valid,', () => {
  test.for(['/one', '/late'])('shows what is wrong with it, and what was typed, in the form of %s', async (path) => {
    const { status, text } = await handApp().byHand(`${path}?_action=${SAVE}`, 'name=annabel')
    expect(status).toBe(422)
    expect(text).toContain('<output>is too long</output>')
    expect(text).toContain('value="annabel"')
    // The browser takes the state over by the same name.
    const [, key = 'no key'] = /name="\$ACTION_KEY" value="(k\w+)"/.exec(text) ?? []
    expect(text.split('id="millrace"')[1]).toContain(key)
  })

  test('shows it as well where the action is named by a field', async () => {
    const { status, text } = await handApp().byHand('/one', `name=annabel&${encodeURIComponent(ID_FIELD)}=${SAVE}`)
    expect([status, text.includes('<output>is too long</output>')]).toEqual([422, true])
  })

  test('is not shown in one of two forms: nobody knows which it was', async () => {
    const { status, text } = await handApp().byHand(`/two?_action=${SAVE}`, 'name=annabel')
    expect(status).toBe(422)
    expect(text).not.toContain('is too long</output>')
    expect(text.match(/nothing yet/g)).toHaveLength(2)
  })

  test('is refused on a page without such a form too', async () => {
    const { status, text } = await handApp().byHand(`/none?_action=${SAVE}`, 'name=annabel')
    expect([status, text.includes('<p>none</p>')]).toEqual([422, true])
  })
})

test.for([
  ['urlencoded', (fields: Record<string, string>) => new URLSearchParams(fields)],
  [
    'multipart',
    (fields: Record<string, string>) =>
      Object.entries(fields).reduce((form, [name, value]) => (form.append(name, value), form), new FormData()),
  ],
] as const)('a form that names its action by a field has the limit of that action, as %s', async ([, write]) => {
  const ran: number[] = []
  const tiny = action({ bodyLimit: 1_000, handler: ({ input }) => void ran.push(JSON.stringify(input).length) })
  const { app } = tinyApp({
    routes: { '/': { page: page(() => <p>page</p>) } },
    actions: { 'actions.server.ts': { tiny } },
  })
  const send = async (name: string) => {
    const body = new Response(write({ [ID_FIELD]: actionId('actions.server.ts', 'tiny'), name }))
    return request(app)
      .post('/')
      .set('Content-Type', body.headers.get('content-type') ?? '')
      .send(await body.text())
  }
  expect([(await send('a'.repeat(2_000))).status, ran.length]).toEqual([413, 0])
  expect([(await send('a'.repeat(200))).status, ran.length]).toEqual([303, 1])
})

describe('a form that was written by another build, which had another key for it,', () => {
  test.for(['/one', '/late'])('shows what is wrong with it, and what was typed, in the form of %s', async (path) => {
    const { status, text } = await handApp().ofFormerBuild(path, path.slice(1), { name: 'annabel' })
    expect(status).toBe(422)
    expect(text).toContain('<output>is too long</output>')
    expect(text).toContain('value="annabel"')
    expect(text.split('id="millrace"')[1]).not.toContain('kformer')
  })

  test('is told from others of its action by what is bound', async () => {
    const { status, text } = await handApp().ofFormerBuild('/rows', 'row-8', {})
    expect(status).toBe(200)
    expect(text.match(/<output>.*?<\/output>/g)).toEqual(['<output>nothing yet</output>', '<output>kept 8</output>'])
  })

  test('is not shown in one of two that are alike', async () => {
    const { text } = await handApp().ofFormerBuild('/two', 'two', { name: 'annabel' })
    expect(text.match(/nothing yet/g)).toHaveLength(2)
  })
})
