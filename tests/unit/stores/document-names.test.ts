import { expect, test } from 'vitest'
import { createDocumentNames, SearchUses, type AskedDocument } from '../../../src/server/stores/cache/document-names.ts'

const pageOf = (page: string): AskedDocument => ({ page, search: {}, queries: ['', ''] })
const copyOf = (q: string): AskedDocument => ({ page: '/search', search: { q }, queries: [`?q=${q}`, `?q=${q}`] })

function uses(...keys: readonly string[]): SearchUses {
  const made = new SearchUses()
  made.add(keys)
  return made
}

test('however many pages one client asks for, those of others are found', () => {
  const names = createDocumentNames(() => undefined)
  const home = names.learn(pageOf('/'), uses(), '192.0.2.1')

  for (let n = 0; n < 3_000; n += 1) names.learn(pageOf(`/${n}`), uses(), '192.0.2.9')

  expect(names.find(pageOf('/'))).toBe(home)
})

test('however many copies of a page one client asks for, those of others stay', () => {
  const dropped: string[] = []
  const names = createDocumentNames((name) => dropped.push(name))
  const copy = names.learn(copyOf('shoes'), uses('q'), '192.0.2.1')

  for (let n = 0; n < 100; n += 1) names.learn(copyOf(`x${n}`), uses('q'), '192.0.2.9')

  expect(dropped).toHaveLength(101 - 32)
  expect(dropped).not.toContain(copy)
})

test('copies of many clients make room for each other, the oldest first', () => {
  const dropped: string[] = []
  const names = createDocumentNames((name) => dropped.push(name))
  const made = Array.from({ length: 34 }, (_, n) => names.learn(copyOf(`x${n}`), uses('q'), `192.0.2.${n}`))

  expect(dropped).toEqual(made.slice(0, 2))
})

test('names are short and apart, however long what visitors send is', () => {
  const names = createDocumentNames(() => undefined)
  const all = new SearchUses()
  all.useAll()
  const made = new Set<string>()
  for (let n = 0; n < 100; n += 1) {
    const asked = { ...copyOf(`${n}${'x'.repeat(8_000)}`), page: JSON.stringify([`/${'y'.repeat(8_000)}${n % 10}`]) }
    const name = names.learn(asked, all, '192.0.2.1')
    expect(names.find(asked)).toBe(name)
    made.add(name)
  }
  expect(made.size).toBe(100)
  expect(Math.max(...[...made].map((name) => name.length))).toBeLessThanOrEqual(200)
})
