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

const asking = (search: Readonly<Record<string, string>>): AskedDocument => {
  const query = `?${new URLSearchParams(search).toString()}`
  return { page: '/list', search, queries: [query, query] }
}

test('a document that needs the whole query leaves those that need less to be found by less', () => {
  const names = createDocumentNames(() => undefined)
  const all = new SearchUses()
  all.useAll()
  const list = names.learn(asking({ write: '0' }), uses('write'), '192.0.2.1')
  const form = names.learn(asking({ write: '1' }), all, '192.0.2.9')
  expect(names.find(asking({ write: '0', gclid: '7' }))).toBe(list)
  expect(names.find(asking({ write: '1' }))).toBe(form)
  expect([list, form]).not.toContain(names.find(asking({ write: '1', gclid: '7' })))
})

test('a document that comes to read other params is no longer found by its former ones', () => {
  const dropped: string[] = []
  const names = createDocumentNames((name) => dropped.push(name))
  const former = names.learn(asking({ tab: 'a' }), uses('tab'), '192.0.2.1')
  names.learn(asking({ tab: 'a', page: '2' }), uses('tab', 'page'), '192.0.2.1')
  expect(dropped).toEqual([former])
  expect(names.find(asking({ tab: 'a' }))).not.toBe(former)
})

/** Reads params as loaders do: what it reads next depends on what it has read. */
function readAlong(seed: number, search: Readonly<Record<string, string>>): { text: string; read: string[] } {
  const read: string[] = []
  let state = seed
  for (let step = 0; step < 1 + (seed % 4); step += 1) {
    const key = 'abcde'.charAt(state % 5)
    read.push(key)
    state = (state * 31 + 7 + Number(search[key] ?? 9) * (step + 3)) % 9_973
  }
  return { text: `${read.join()} ${state}`, read }
}

test('whatever is read of a query, what is found is what this query would have made', () => {
  const choose = (count: number): number => Math.floor(Math.random() * count)
  let found = 0
  for (let seed = 0; seed < 200; seed += 1) {
    const texts = new Map<string, string>()
    const names = createDocumentNames((name) => texts.delete(name))
    for (let request = 0; request < 300; request += 1) {
      const search: Record<string, string> = {}
      for (const key of 'abcde') if (choose(2) === 0) search[key] = String(choose(3))
      const { text, read } = readAlong(seed, search)
      const name = names.find(asking(search))
      const known = name === undefined ? undefined : texts.get(name)
      if (known === undefined) texts.set(names.learn(asking(search), uses(...read), `192.0.2.${choose(3)}`), text)
      else {
        found += 1
        expect({ seed, search, known }).toEqual({ seed, search, known: text })
      }
    }
  }
  expect(found).toBeGreaterThan(10_000)
})
