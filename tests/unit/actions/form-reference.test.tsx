/**
 * What `src/server/routes/render/form-reference.ts` depends on in React 19.3. When one of these fails after an update of React,
 * that file is to be changed, and `docs/decisions/0019-actions.md` says what for.
 */
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { useActionState, type ReactNode } from 'react'
import type { ReactFormState } from 'react-dom/client'
import { renderToPipeableStream, renderToString } from 'react-dom/server'
import { describe, expect, test, vi } from 'vitest'
import { action, declaredAction } from '../../../src/server/routes/actions/action.ts'
import { withForms, type FormTarget } from '../../../src/server/routes/render/form-target.ts'
import { submitForm } from 'millrace/testing'

const ID = 'abcdefghijklmnop'

type Render = (tree: ReactNode, state?: unknown) => Promise<string>

const whole: Render = (tree) => Promise.resolve(renderToString(tree))

const stream: Render = (tree, state) =>
  text(renderToPipeableStream(tree, { formState: (state ?? null) as ReactFormState | null }).pipe(new PassThrough()))

const RENDERERS = [
  ['renderToString', whole],
  ['renderToPipeableStream', stream],
] as const

function namedAction() {
  const save = action<unknown, readonly [number], { readonly saved: number }>({ handler: () => ({ saved: 1 }) })
  const declared = declaredAction(save)
  if (declared === undefined) throw new Error('not an action')
  declared.id = ID
  return save
}

function target(search = ''): FormTarget {
  return {
    pathname: '/form',
    search,
    callKey: 'once-once',
    stateForms: [],
    sign: (id, value) => `${id} signed ${value}`,
  }
}

function StateForm({ save, id }: { readonly save: ReturnType<typeof namedAction>; readonly id: string }) {
  const [state, formAction] = useActionState(save.bind(null, 7), null)
  return (
    <form id={id} action={formAction}>
      <output>{JSON.stringify(state)}</output>
    </form>
  )
}

/** React's name of the hook whose state the form shows. */
async function keyOf(html: string, id = 'a'): Promise<string | undefined> {
  const [, key] = (await submitForm(html, `#${id}`)).entries.find(([name]) => name === '$ACTION_KEY') ?? []
  return key?.toString()
}

describe.for(RENDERERS)('%s writes', ([, render]) => {
  test("an action's form as one that the browser can send by itself", async () => {
    const save = namedAction().bind(null, 7)
    const forms = target('?page=2')
    const html = await withForms(forms, () => render(<form id="a" action={save as never} />))
    expect(html).toContain('encType="multipart/form-data"')
    expect(html).toContain('method="POST"')
    const { url, entries } = await submitForm(html, '#a')
    const [, number] = new RegExp(`^/form\\?page=2&_action=${ID}\\.(\\d+)$`).exec(url) ?? []
    expect(number).toMatch(/^\d+$/)
    expect(Object.fromEntries(entries)).toEqual({
      $ACTION_REF: '',
      $ACTION_ID: ID,
      $ACTION_ONCE: 'once-once',
      [`$ACTION_ARGS${number}`]: `${ID} signed [7]`,
    })
    expect(forms.stateForms).toEqual([])
  })

  test("an action's button the same way, and the form keeps its own", async () => {
    const save = namedAction().bind(null, 1)
    const html = await withForms(target(), () =>
      render(
        <form id="a" action={save as never}>
          <button formAction={save as never}>b</button>
        </form>,
      ),
    )
    const numbers = [...html.matchAll(/_action=\w+\.(\d+)/g)].map(([, number]) => number)
    expect(new Set(numbers).size).toBe(2)
    expect(html).toMatch(/<button[^>]* formAction="\/form\?_action=/)
    for (const number of numbers) expect(html).toContain(`name="$ACTION_ARGS${number}"`)
  })

  test('bound arguments as the browser sends them', async () => {
    const loop: { self?: unknown } = {}
    loop.self = loop
    const bound = [{ note: undefined, at: new Date(0) }, undefined, Number.NaN, 7n, loop] as const
    const save = (namedAction() as (...args: unknown[]) => unknown).bind(null, ...bound)
    const html = await withForms(target(), () => render(<form id="a" action={save as never} />))
    const [, args] = (await submitForm(html, '#a')).entries.find(([field]) => field.startsWith('$ACTION_ARGS')) ?? []
    expect(args).toBe(`${ID} signed [{"at":"1970-01-01T00:00:00.000Z"},null,null,null,null]`)
  })

  test('the state behind the bound arguments, and a key that names the hook', async () => {
    const forms = target()
    const html = await withForms(forms, () => render(<StateForm save={namedAction()} id="a" />))
    const hidden = new Map((await submitForm(html, '#a')).entries)
    expect([...hidden].find(([field]) => field.startsWith('$ACTION_ARGS'))?.[1]).toBe(`${ID} signed [7,null]`)
    expect(hidden.get('$ACTION_KEY')).toMatch(/^k/)
    expect(forms.stateForms).toEqual([{ id: ID, args: [7], key: hidden.get('$ACTION_KEY') }])
  })

  test('no state that says why the input was refused: it holds all that was typed, and nobody reads it', async () => {
    const refused = { kind: 'invalid', errors: {}, values: { text: 'typed' }, omitted: [] }
    const save = (namedAction() as (...args: unknown[]) => unknown).bind(null, 7, refused)
    const html = await withForms(target(), () => render(<form id="a" action={save as never} />))
    const [, args] = (await submitForm(html, '#a')).entries.find(([field]) => field.startsWith('$ACTION_ARGS')) ?? []
    expect(args).toBe(`${ID} signed [7,null]`)
  })

  test('two hooks with two keys', async () => {
    const save = namedAction()
    const html = await withForms(target(), () =>
      render(
        <>
          <StateForm save={save} id="a" />
          <StateForm save={save} id="b" />
        </>,
      ),
    )
    const keys = [await keyOf(html, 'a'), await keyOf(html, 'b')]
    expect(new Set(keys).size).toBe(2)
  })

  test('nothing outside of a page, and says why', async () => {
    const complain = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect(await render(<form action={namedAction().bind(null, 7) as never} />)).not.toContain('_action=')
    expect(String(complain.mock.calls[0]?.[1])).toContain('can only be rendered by the server of the application')
  })
})

describe('a posted state', () => {
  /** The page, and after that the page with a state that was posted by its form. */
  async function post(
    save: ReturnType<typeof namedAction>,
    state: readonly [value: unknown, key?: string | undefined, id?: string | undefined, arity?: number | undefined],
  ) {
    const page = <StateForm save={save} id="a" />
    const key = await keyOf(await withForms(target(), () => stream(page)))
    const [value, ofKey = key, id = ID, arity = 1] = state
    return withForms(target(), () => stream(page, [value, ofKey, id, arity]))
  }

  test('is shown by the hook that it belongs to', async () => {
    expect(await post(namedAction(), [{ saved: 5 }])).toContain('{&quot;saved&quot;:5}')
  })

  test.for([
    ['of another hook', 'k0000', undefined, undefined],
    ['of another action', undefined, 'other', undefined],
    ['with more bound arguments', undefined, undefined, 2],
  ] as const)('%s is not', async ([, key, id, arity]) => {
    expect(await post(namedAction(), [{ saved: 5 }, key, id, arity])).toContain('<output>null</output>')
  })

  test('is named otherwise by the other renderer, so that a page with one is streamed', async () => {
    const page = <StateForm save={namedAction()} id="a" />
    const keys = []
    for (const render of [stream, whole]) {
      keys.push(await keyOf(await withForms(target(), () => render(page))))
    }
    expect(keys[0]).not.toBe(keys[1])
  })
})
