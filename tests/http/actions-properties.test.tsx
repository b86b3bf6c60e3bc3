import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { BodyError } from '../../src/server/http/body/body-error.ts'
import { formObject } from '../../src/server/http/body/form-object.ts'
import { fallbacks, moduleOf, page, tinyApp, type TinyApp } from '../support/tiny-app.tsx'

const MODULE = 'actions.server.ts'

const schema = z.strictObject({
  a: z.string().max(4).optional(),
  tags: z.array(z.string().max(4)).optional(),
  b: z.object({ c: z.string().optional(), d: z.array(z.object({ e: z.string() })).optional() }).optional(),
})

const world: { tiny?: TinyApp; server?: Server; origin: string } = {
  origin: '',
}
const ran: unknown[] = []

beforeAll(async () => {
  const take = action({ input: schema, handler: ({ input }) => void ran.push(input) })
  const tiny = tinyApp({
    routes: {
      '/': { ...fallbacks('root') },
      '/form': { page: page(() => <p>form</p>), loader: moduleOf({ loader: () => null }) },
    } as never,
    actions: { [MODULE]: { take } },
  })
  const server = createServer(tiny.app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  Object.assign(world, {
    tiny,
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  })
})

afterAll(async () => {
  world.server?.closeAllConnections()
  world.server?.close()
  world.tiny?.app.dispose()
})

const ID = actionId(MODULE, 'take')

/** By a form, and by the client router. */
const WAYS = [`/form?_action=${ID}.0`, `/_m/data/form?_action=${ID}`] as const

async function post(way: string, body: NonNullable<RequestInit['body']>, type?: string): Promise<number> {
  const answer = await fetch(world.origin + way, {
    method: 'POST',
    body,
    redirect: 'manual',
    ...(type === undefined ? {} : { headers: { 'Content-Type': type } }),
  })
  const text = await answer.text()
  expect(text).not.toContain('at Object.')
  return answer.status
}

/** What a form of these fields is answered with, by the schema alone. */
function verdict(fields: readonly (readonly [string, string])[]): 'taken' | 'refused' | 'unreadable' {
  try {
    return schema.safeParse(formObject(fields).value).success ? 'taken' : 'refused'
  } catch (thrown) {
    if (thrown instanceof BodyError) return 'unreadable'
    throw thrown
  }
}

const STATUSES = { taken: [303, 200], refused: [422, 422], unreadable: [400, 400] } as const

const word = fc.constantFrom(
  ...'a b c d e tags 0 1 999999999 -1 length __proto__ constructor prototype toString hasOwnProperty'.split(' '),
  '',
  'ä\u{1F600}',
  ' ',
  '%00',
)
const name = fc.oneof(
  fc.constantFrom('a', 'tags', 'tags[]', 'b.c', 'b.d[0].e', 'b[c]', 'b.d[].e'),
  fc
    .tuple(word, fc.array(fc.tuple(fc.constantFrom('.', '[', ']', '[]', '].'), word), { maxLength: 4 }))
    .map(([first, rest]) => first + rest.flat().join('')),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)
const value = fc.oneof(fc.constantFrom('', 'x', 'long text'), fc.string({ unit: 'grapheme', maxLength: 12 }))
// Line ends are made equal on the way: what a form sends is not what was put into it.
const field = fc
  .tuple(name, value)
  .filter(([key, text]) => !/[\r\n]/.test(key + text) && (key + text).isWellFormed() && !key.startsWith('$ACTION_'))

test('whatever a form holds, it gets the verdict of the schema, and never a 5xx', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(field, { maxLength: 6 }),
      fc.boolean(),
      fc.constantFrom(0, 1),
      async (fields, multipart, way) => {
        const form = multipart ? new FormData() : new URLSearchParams()
        for (const [key, text] of fields) form.append(key, text)
        const before = ran.length
        const expected = verdict(fields)
        // The body of no fields at all is no multipart form for some, and an empty one for others.
        const status = await post(WAYS[way], form)
        expect([status, ran.length - before]).toEqual([STATUSES[expected][way], expected === 'taken' ? 1 : 0])
      },
    ),
    { numRuns: 150 },
  )
})

test('whatever stands in the fields of the runtime, it is never a 5xx', async () => {
  const own = fc.constantFrom('$ACTION_ID', '$ACTION_ARGS', '$ACTION_ARGS0', '$ACTION_KEY', '$ACTION_ONCE', '$ACTION_X')
  const json = fc.oneof(value, fc.json({ maxDepth: 3 }), fc.constantFrom('[', '[[[[', '{"__proto__":1}', '[1e999]'))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(own, json), { maxLength: 4 }), fc.constantFrom(0, 1), async (fields, way) => {
      const form = new URLSearchParams()
      for (const [key, text] of fields) form.append(key, text)
      expect(await post(WAYS[way], form)).toBeLessThan(500)
    }),
    { numRuns: 80 },
  )
})

test('whatever bytes or JSON come, it is never a 5xx', async () => {
  const type = fc.constantFrom(
    'multipart/form-data; boundary=x',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    'application/json',
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((list) => new Uint8Array(list)),
    fc.json().map((text) => new TextEncoder().encode(text)),
    fc
      .array(
        fc.constantFrom(
          '--x\r\n',
          '--x--',
          '\r\n',
          'Content-Disposition: form-data; name="a"\r\n',
          '; filename="',
          'a',
          '"',
        ),
        { maxLength: 12 },
      )
      .map((parts) => new TextEncoder().encode(parts.join(''))),
  )
  await fc.assert(
    fc.asyncProperty(type, bytes, fc.constantFrom(0, 1), async (contentType, body, way) => {
      expect(await post(WAYS[way], body, contentType)).toBeLessThan(500)
    }),
    { numRuns: 120 },
  )
  expect(world.tiny?.logs.filter(({ msg }) => msg === 'uncaught failure')).toEqual([])
})
