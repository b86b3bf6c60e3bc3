import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { action, declaredAction, type ActionDefinition } from '../../../src/server/routes/actions/action.ts'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import { formObject } from '../../../src/server/http/body/form-object.ts'
import type { ReceivedCall } from '../../../src/server/routes/actions/read-call.ts'
import { runAction } from '../../../src/server/routes/actions/run-action.ts'
import { RedirectSignal, RefusalSignal } from '../../../src/shared/control-flow.ts'

const NO_FILES: ReceivedCall['files'] = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true as const, value: undefined }) }),
}

/** A call as the client router makes it, unless told otherwise. */
function received(more: Partial<ReceivedCall> = {}): ReceivedCall {
  return { input: undefined, leading: [], hasState: undefined, files: NO_FILES, ...more }
}

function ofForm(...fields: readonly (readonly [string, string | File])[]): ReceivedCall {
  const object = formObject(fields)
  return received({ input: object.value, form: { ...object, fields } })
}

function run<Input, Args extends readonly unknown[], Result>(
  definition: ActionDefinition<Input, Args, Result>,
  call: ReceivedCall,
  headers = new Headers(),
  revalidate: (...targets: readonly string[]) => Promise<void> = () => Promise.resolve(),
) {
  const declared = declaredAction(action(definition))
  if (declared === undefined) throw new Error('not an action')
  return runAction(declared, call, {}, {
    loaderContext: { headers, revalidate },
    givenHeaders: headers,
    services: { data: { revalidate: (targets: readonly string[]) => revalidate(...targets) } },
  } as never)
}

test('what a handler drops is told at its end, once, and what its work drops after that at once', async () => {
  const told: string[] = []
  const late = Promise.withResolvers<() => void>()
  const declared = declaredAction(
    action({
      handler({ revalidate }) {
        revalidate('board')
        told.push('handled')
        late.resolve(() => revalidate('late'))
      },
    }),
  )
  if (declared === undefined) throw new Error('not an action')
  await runAction(declared, ofForm(), {}, {
    loaderContext: {
      headers: new Headers(),
      revalidate: (...targets: readonly string[]) => void told.push(...targets),
    },
    givenHeaders: new Headers(),
    noteLateChange: () => void told.push('too late for the browser'),
    services: {
      data: {
        revalidate: ([target]: readonly string[], isEarly = false) =>
          void told.push(isEarly ? `early ${target}` : String(target)),
      },
    },
  } as never)
  ;(await late.promise)()
  expect(told).toEqual(['early board', 'handled', 'board', 'too late for the browser', 'late'])
})

describe('an action gets', () => {
  test('what the schema made of the input', async () => {
    const { outcome } = await run(
      { input: z.object({ n: z.coerce.number() }), handler: ({ input }) => input.n + 1 },
      ofForm(['n', '41']),
    )
    expect(outcome).toEqual({ kind: 'value', value: 42 })
  })

  const bound = {
    args: z.tuple([z.number()]),
    handler: ({ args, state }: { args: unknown; state: unknown }) => [args, state],
  }

  test.for([
    ['bound arguments alone', [1], undefined, [[1], undefined]],
    ['a state behind them', [1, { n: 1 }], undefined, [[1], { n: 1 }]],
    ['a state that a document has said to be one', [1, 5], true, [[1], 5]],
    ['no state for null, which is none', [1, null], undefined, [[1], undefined]],
    ['no state for a refusal', [1, { kind: 'invalid', errors: {} }], undefined, [[1], undefined]],
  ] as const)('%s', async ([, leading, hasState, value]) => {
    expect((await run(bound, received({ leading, hasState }))).outcome).toEqual({ kind: 'value', value })
  })

  /** As Valibot's `tuple` and Yup's: it drops what is behind its last item. */
  const cutting = z.array(z.unknown()).transform((list) => z.tuple([z.number()]).parse(list.slice(0, 1)))

  test.for([
    ['bound arguments alone', [1], [[1], undefined]],
    ['a state behind them', [1, { n: 1 }], [[1], { n: 1 }]],
    ['what the schema shortens by itself', [1, 2, 3], [[1], undefined]],
  ] as const)('%s, by a schema that drops what is too much', async ([, leading, value]) => {
    expect((await run({ ...bound, args: cutting }, received({ leading }))).outcome).toEqual({ kind: 'value', value })
  })

  test('a failure as its state, by a schema that drops what is too much', async () => {
    const failing = {
      args: cutting,
      failure: 'state' as const,
      handler: () => {
        throw new Error('locked')
      },
    }
    expect((await run(failing, received({ leading: [1, null] }))).outcome).toMatchObject({ kind: 'failed' })
  })

  test.for([[[]], [['1']], [[1, 2, 3]]] as const)('never arguments that it does not take: %j', async ([leading]) => {
    await expect(run(bound, received({ leading }))).rejects.toThrow(BodyError)
    await expect(run({ handler: () => 1 }, received({ leading: [1, 2] }))).rejects.toThrow(BodyError)
  })
})

test('a result that the browser would get as something else is a failure that names the action', async () => {
  const { outcome } = await run({ handler: () => ({ price: { format: () => '1' } }) }, received())
  expect(outcome).toMatchObject({
    kind: 'thrown',
    thrown: { message: expect.stringMatching(/^The action .* returned .*format: a function/) as string },
  })
})

describe('a refused input', () => {
  const input = z.object({
    name: z.string().min(3, 'short').regex(/^a/, 'no a'),
    address: z.object({ city: z.string('missing') }),
    tags: z.array(z.string().max(2, 'long')).default([]),
  })

  test('no more of them are told than a form has fields', async () => {
    const COUNT = 20_000
    const { outcome } = await run(
      { input: z.array(z.string('no text')), handler: () => undefined },
      received({ input: Array.from({ length: COUNT }, () => 1) }),
    )
    if (outcome.kind !== 'invalid') throw new Error(outcome.kind)
    const told = Object.entries(outcome.state.errors)
    expect([told.length, told[0], told.at(-1)]).toEqual([1_000, ['0', ['no text']], ['999', ['no text']]])
  })

  test('is told by the names of the form, each message once, and has not run', async () => {
    const { outcome, revalidate } = await run(
      { input, handler: ({ revalidate: drop }) => drop('never') },
      ofForm(
        ['name', 'b'],
        ['tags', 'ok'],
        ['tags', 'long'],
        ['address.street', 'x'],
        ['photo', new File(['x'], 'a.png')],
      ),
    )
    expect(revalidate).toEqual([])
    if (outcome.kind !== 'invalid') throw new Error(outcome.kind)
    expect(outcome.state).toEqual({
      kind: 'invalid',
      errors: { name: ['short', 'no a'], 'address.city': ['missing'], tags: ['long'] },
      values: { name: 'b', tags: ['ok', 'long'], 'address.street': 'x' },
      omitted: ['photo'],
    })
  })

  test.for([
    ['a document', false, { title: 'b', note: 'y'.repeat(1_000) }, ['text']],
    ['a call of the client router', undefined, { title: 'b', text: '<'.repeat(131_000), note: 'y'.repeat(1_000) }, []],
  ] as const)('comes back in %s: whole fields, up to a bound in documents', async ([, hasState, values, omitted]) => {
    // A secret is not repeated, however long it is, and is not named either.
    const secret = ['newPassword', 'x'.repeat(140_000)] as const
    const call = ofForm(['title', 'b'], secret, ['note', 'y'.repeat(1_000)], ['text', '<'.repeat(131_000)])
    const { outcome } = await run({ input: z.never(), handler: () => 1 }, { ...call, hasState })
    if (outcome.kind !== 'invalid') throw new Error(outcome.kind)
    expect(outcome.state).toMatchObject({ values: { ...values }, omitted: [...omitted] })
    expect(Object.keys(outcome.state.values).toSorted()).toEqual(Object.keys(values).toSorted())
  })

  test('never sends back what is secret, and no field can pass for a prototype', async () => {
    const { outcome } = await run(
      { input: z.object({ name: z.never() }), secret: ['password'], handler: () => 1 },
      ofForm(['password', 'hunter2'], ['newPassword', 'hunter3'], ['name', 'ann']),
    )
    if (outcome.kind !== 'invalid') throw new Error(outcome.kind)
    expect(outcome.secret).toEqual(['password'])
    expect(outcome.state.values).toEqual({ name: 'ann' })
    expect(Object.getPrototypeOf(outcome.state.values)).toBeNull()
    expect(Object.getPrototypeOf(outcome.state.errors)).toBeNull()
  })
})

describe('a call that is over', () => {
  test('tells what is to be dropped, and everything once it sets a cookie', async () => {
    const define = (name: string): ActionDefinition<unknown, readonly [], void> => ({
      handler: ({ context, revalidate }) => {
        revalidate('a', '/b')
        context.headers.append(name, 'x=1')
      },
    })
    expect((await run(define('X-Else'), received())).revalidate).toEqual(['a', '/b'])
    expect((await run(define('Set-Cookie'), received())).revalidate).toEqual(['a', '/b', '/*'])
  })

  test('tells names of any length in little room, each once', async () => {
    const definition: ActionDefinition<unknown, readonly [], void> = {
      handler: ({ revalidate }) => {
        revalidate('a', `mill:${'a'.repeat(900_000)}`, '/b')
        revalidate('/b/', 'a', `/mills/${'a/'.repeat(450_000)}`)
      },
    }
    const { revalidate } = await run(definition, received())
    expect(revalidate).toEqual(['a', expect.stringMatching(/^.{1,100}$/), '/b'])
  })

  test.for([
    ['leads elsewhere', new RedirectSignal('/', 303)],
    ['refuses', new RefusalSignal('unauthorized')],
    ['fails', new Error('x')],
  ] as const)('drops everything where it sets a cookie and %s, as signing in does', async ([, thrown]) => {
    const handler: ActionDefinition<unknown, readonly [], void>['handler'] = ({ context }) => {
      context.headers.append('Set-Cookie', 'x=1')
      throw thrown
    }
    expect((await run({ handler }, received())).revalidate).toEqual(['/*'])
  })

  test.for(['returned', 'thrown'])(
    'drops the same from the server’s cache once its work is done, be it %s',
    async (how) => {
      const happened: string[] = []
      const revalidate = (...targets: readonly string[]): Promise<void> => {
        happened.push(targets.join(' '))
        return Promise.resolve()
      }
      const handler: ActionDefinition<unknown, readonly [], void>['handler'] = async ({
        context,
        revalidate: drop,
      }) => {
        drop('a', '/b')
        await Promise.resolve()
        happened.push('work')
        context.headers.append('Set-Cookie', 'x=1')
        if (how === 'thrown') throw new Error('x')
      }
      await run({ handler }, received(), new Headers(), revalidate)
      expect(happened).toEqual(['a /b', 'work', 'a /b'])
    },
  )

  test('keeps what was thrown apart from what was returned', async () => {
    const thrown = new Error('x')
    const failing = () => {
      throw thrown
    }
    expect((await run({ handler: failing }, received())).outcome).toEqual({ kind: 'thrown', thrown })
    const schema = z.string().transform(failing)
    expect((await run({ input: schema, handler: () => 1 }, received({ input: 'a' }))).outcome.kind).toBe('thrown')
  })
})
