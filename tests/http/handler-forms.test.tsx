/** `request.formData()` of a handler, with the bounds of forms. */
import request from 'supertest'
import { expect, test } from 'vitest'
import type { HandlerArgs } from '../../src/server/api/loader-types.ts'
import { countFields } from '../../src/server/http/body/count-fields.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

type Read = (sent: Request) => Promise<FormData>

const READS: Readonly<Record<string, Read>> = {
  'the request': (sent) => sent.formData(),
  'a clone': (sent) => sent.clone().formData(),
  'a clone of a clone': (sent) => sent.clone().clone().formData(),
  'a clone of what is read as text': async (sent) => {
    const copy = sent.clone()
    await sent.text()
    return copy.formData()
  },
}

const formApp = (read: Read, more: object = {}) => {
  const POST = async ({ request: sent }: HandlerArgs) => Response.json([...(await read(sent))].length)
  return tinyApp({ routes: { '/form': { handler: moduleOf({ POST, ...more }) } } }).app
}

const BOUNDARY = `----${'f'.repeat(40)}`
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`
const URLENCODED = 'application/x-www-form-urlencoded'
const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n`
const multipart = (parts: number): string => `${part.repeat(parts)}--${BOUNDARY}--\r\n`
const names = (count: number): string => Array.from({ length: count }, () => 'a').join('&')

test.for(Object.entries(READS))('of %s takes a thousand fields, and 413 is for more', async ([, read]) => {
  for (const more of [{}, { bodyLimit: Infinity }]) {
    const app = formApp(read, more)
    for (const [type, text] of [
      [URLENCODED, names(1_000)],
      [MULTIPART, multipart(1_000)],
    ] as const) {
      expect((await request(app).post('/form').type(type).send(text).expect(200)).body).toBe(1_000)
    }
    for (const [type, text] of [
      [URLENCODED, names(1_001)],
      [`${URLENCODED}; charset=utf-16`, names(500_000)],
      [URLENCODED, '&'.repeat(2_000)],
      [MULTIPART, multipart(1_001)],
    ] as const) {
      await request(app).post('/form').type(type).send(text).expect(413)
    }
  }
})

test.for([
  [415, 'text/plain'],
  [415, `text/plain, ${URLENCODED}`],
  [415, `${URLENCODED}; a=1; a=2`],
  [400, 'multipart/form-data'],
  // A parser without the backslash, or in another character set, finds other boundaries than one that counts them.
  [415, String.raw`multipart/form-data; boundary="x\y"`],
  [415, String.raw`multipart/form-data; boundary="\""`],
  // Or another type, behind a comma that is in quotes for one of them.
  [415, String.raw`multipart/form-data; boundary=b; x="\"; y=", application/x-www-form-urlencoded; z="`],
  [415, String.raw`multipart/form-data; boundary=b; x="\"; y=", multipart/form-data; boundary=a; z="`],
  [415, String.raw`application/x-www-form-urlencoded; x="\"; y=", multipart/form-data; boundary=a; z="`],
  [400, 'multipart/form-data; boundary="é"'],
  [400, `multipart/form-data; boundary=${'x'.repeat(71)}`],
] as const)('is refused with %i for %s', async ([status, type]) => {
  const app = formApp((sent) => sent.formData())
  await request(app).post('/form').set('Content-Type', type).send(names(3)).expect(status)
})

test('a form is read by a type that has quotes and more parameters', async () => {
  const app = formApp((sent) => sent.formData())
  const type = `Multipart/Form-Data; x="a;b,c"; Boundary="${BOUNDARY}"; charset=utf-8`
  expect((await request(app).post('/form').set('Content-Type', type).send(multipart(3)).expect(200)).body).toBe(3)
})

test('a malformed form, or malformed JSON, is refused with 400, and is no failure', async () => {
  const POST = async ({ request: sent }: HandlerArgs) => {
    const isJson = sent.headers.get('content-type') === 'application/json'
    return Response.json(isJson ? await sent.clone().json() : [...(await sent.formData())].length)
  }
  const { app, logs } = tinyApp({ routes: { '/read': { handler: moduleOf({ POST }) } } })
  for (const [type, body] of [
    ['application/json', '{'],
    ['application/json', ''],
    ['application/json', '['.repeat(30_000)],
    [MULTIPART, 'garbage'],
    [MULTIPART, `--${BOUNDARY}\r\nnothing`],
  ] as const) {
    await request(app).post('/read').set('Content-Type', type).send(body).expect(400)
  }
  expect(
    (await request(app).post('/read').set('Content-Type', 'application/json').send('[1]').expect(200)).body,
  ).toEqual([1])
  expect(logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

test('a form is read once', async () => {
  const app = formApp(async (sent) => {
    await sent.text()
    const refused: unknown = await sent.formData().catch((error: unknown) => error)
    return refused instanceof TypeError ? new FormData() : Promise.reject(new Error('read twice'))
  })
  await request(app).post('/form').type(URLENCODED).send(names(2)).expect(200)
})

test('a handler that reads a form as text may have any number of fields', async () => {
  const app = formApp(async (sent) => ((await sent.text()).length === 3_999 ? new FormData() : Promise.reject(sent)))
  await request(app).post('/form').type(URLENCODED).send(names(2_000)).expect(200)
})

test.for([1, 2, 7, 41, 60, 100_000])('parts are counted in pieces of %i bytes', (size) => {
  for (const [count, isFault] of [
    [1_000, false],
    [1_001, true],
  ] as const) {
    const fields = countFields(MULTIPART)
    const bytes = Buffer.from(multipart(count))
    for (let at = 0; at < bytes.length; at += size) fields.add(bytes.subarray(at, at + size))
    expect(fields.fault !== undefined).toBe(isFault)
  }
})
