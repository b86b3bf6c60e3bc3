import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  oneof,
  record,
  string,
  tuple,
  uint8Array,
} from 'fast-check'
import { expect, test } from 'vitest'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import {
  AMPLE,
  disposition,
  FINAL,
  MULTIPART,
  part,
  takeBody,
  URLENCODED,
  withBodies,
  type Taken,
} from './body-server.ts'

type Entry = readonly [name: string, value: string | { readonly name: string; readonly bytes: readonly number[] }]

/** What encoders leave as it is: they write line breaks their own way, and a name's quotes and breaks as `%22`. */
const asSent = (text: string) => text.replace(/\r\n?|\n/g, '\r\n')
const names = string({ unit: 'grapheme', minLength: 1, maxLength: 15 }).filter(
  (name) => !/%(?:22|0a|0d)|\0/i.test(name) && Buffer.byteLength(asSent(name)) <= 200 && name.isWellFormed(),
)
const texts = oneof(string({ unit: 'grapheme' }), constantFrom('', '\r\n', '\n', '--x', '+ %20&=;', '\0')).filter(
  (text) => text.isWellFormed(),
)
const files = record({
  name: names.filter((name) => !/[/\\]|^\.\.?$/.test(name)),
  bytes: uint8Array({ maxLength: 500 }),
})

async function entriesOf(taken: Taken): Promise<Entry[]> {
  if ('fault' in taken) throw taken.fault
  if (taken.body.kind !== 'form') throw new TypeError('no form')
  return Promise.all(
    taken.body.fields.map(async ([name, value]): Promise<Entry> => {
      return [name, typeof value === 'string' ? value : { name: value.name, bytes: [...(await value.bytes())] }]
    }),
  )
}

test('whatever a form holds comes out of it, in its order, by fetch', async () => {
  let received: Promise<Entry[]> | undefined
  await withBodies(
    AMPLE,
    (taken) => {
      received = entriesOf(taken)
      return received.catch(() => undefined)
    },
    async (port) => {
      const send = async (body: FormData | URLSearchParams) => {
        await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).text()
        return received
      }
      await assert(
        asyncProperty(array(tuple(names, oneof(texts, files)), { maxLength: 10 }), async (fields) => {
          const form = new FormData()
          const search = new URLSearchParams()
          for (const [name, value] of fields) {
            if (typeof value === 'string') form.append(name, value)
            else form.append(name, new File([new Uint8Array(value.bytes)], value.name))
            if (typeof value === 'string') search.append(name, value)
          }
          const sent = fields.map(([name, value]): Entry => {
            if (typeof value === 'string') return [asSent(name), asSent(value)]
            // Node's own encoder leaves the breaks in the name of a file alone.
            return [asSent(name), { name: value.name, bytes: [...value.bytes] }]
          })
          expect(await send(form)).toEqual(sent)
          expect(await send(search)).toEqual([...search])
        }),
        { numRuns: 150 },
      )
    },
  )
})

const WORDS = [
  '--x\r\n', '\r\n--x\r\n', '\r\n--x--', '\r\n\r\n', '\r\n', disposition('a'), disposition('f', 'n'), '&', '=', '%', '%41',
  '+', '[', ']', '{', '}', '"', ':', ',', '1', '\\u', '__proto__', '\0', 'Content-Type: text/plain; charset=x',
] // prettier-ignore

test('any bytes end as a body or as a refusal', async () => {
  const pieces = oneof(
    constantFrom(...WORDS).map((word) => Buffer.from(word)),
    uint8Array({ maxLength: 8 }),
  )
  const bodies = array(pieces, { maxLength: 25 }).map((list) => Buffer.concat(list))
  const types = constantFrom(MULTIPART, URLENCODED, 'application/json', 'multipart/form-data; boundary=""')
  await assert(
    asyncProperty(types, bodies, integer({ min: 0, max: 1 }), async (type, body, streamed) => {
      const taken = await takeBody(type, body, { streamed: streamed === 1 })
      expect('body' in taken || taken.fault instanceof BodyError).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('a body that comes byte by byte is the same body', async () => {
  const form = `${part(disposition('a'), 'ä\r\n--')}${part(disposition('f', 'n.txt'), '1\r\n-')}${FINAL}`
  const whole = await entriesOf(await takeBody(MULTIPART, form))
  expect(whole).toHaveLength(2)
  expect(await entriesOf(await takeBody(MULTIPART, form, { every: 1 }))).toEqual(whole)
  expect(await entriesOf(await takeBody(URLENCODED, 'a=%C3%A4&b=+', { every: 1 }))).toEqual([
    ['a', 'ä'],
    ['b', ' '],
  ])
})
