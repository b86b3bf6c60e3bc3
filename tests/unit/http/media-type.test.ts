import { array, assert, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'
import { readBodyType } from '../../../src/server/http/body/body-kind.ts'
import { contentRisk, essenceOf } from '../../../src/server/http/media-type.ts'

/** How the platform's `fetch` reads a type, which is how browsers do (WHATWG Fetch, "extract a MIME type"). */
async function typeOfBrowsers(header: string): Promise<string> {
  return (await new Response('', { headers: { 'Content-Type': header } }).blob()).type
}

const PIECES = ['"', '\\', ',', ';', '=', ' ', 'x', 'boundary', "'", '/', '*', '(']
const PAIR = ['; x="\\"', '; y="', ', text/html', ', text/html; z="', '"', ';', '\\"', '="']
const headers = array(constantFrom(...PIECES, ...PAIR, 'image/png', 'text/html', 'multipart/form-data; boundary=b'), {
  maxLength: 8,
})

test('a type that counts as passive is the type that browsers find', async () => {
  const seen: string[] = []
  assert(
    property(headers, (rest) => void seen.push(`image/png${rest.join('')}`)),
    { numRuns: 20_000 },
  )
  seen.push('image/png; x="\\"; y=", text/html; z="')
  const passive = seen.filter((header) => contentRisk(header) === 'passive')
  expect(passive.length).toBeGreaterThan(500)
  for (const header of passive) {
    expect([header, (await typeOfBrowsers(header)).split(';')[0]?.trim()]).toEqual([header, essenceOf(header)])
  }
})

test('a type that counts as a form with a boundary is one to other parsers, with the same boundary', async () => {
  const seen: string[] = []
  const pushed = property(headers, (rest) => void seen.push(`multipart/form-data; boundary=b${rest.join('')}`))
  assert(pushed, { numRuns: 20_000 })
  const forms = seen.flatMap((header) => {
    const type = readBodyType(header)
    return type?.boundary === undefined ? [] : [{ header, ...type }]
  })
  expect(forms.length).toBeGreaterThan(200)
  for (const { header, boundary } of forms) {
    const [essence, ...parameters] = (await typeOfBrowsers(header)).split(';')
    expect([header, essence]).toEqual([header, 'multipart/form-data'])
    expect(parameters[0]?.replaceAll('"', '')).toBe(`boundary=${boundary}`)
  }
})
