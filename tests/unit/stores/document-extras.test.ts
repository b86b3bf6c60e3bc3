/** What visitors ask for of kept documents adds to them: none of it pushes out a document, or its data. */
import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createDocumentCache, type KeptDocument } from '../../../src/server/stores/cache/document-cache.ts'
import type { DocumentData } from '../../../src/server/stores/cache/document-entries.ts'
import { SearchUses, type AskedDocument } from '../../../src/server/stores/cache/document-names.ts'
import { KeptBody } from '../../../src/server/stores/cache/kept-body.ts'
import { createRevalidations } from '../../../src/server/stores/cache/revalidations.ts'

const ENCODINGS = ['gzip', 'br', 'zstd', undefined] as const
const STRANGER = '10.66.0.1'

async function openCache(pages: number, bytes: number, dataBytes: number) {
  const clock = { now: 1_000_000 }
  const data = { revalidations: createRevalidations(), isHearing: true }
  const cache = createDocumentCache({ data, openedData: data }, () => clock.now)
  const asked = (page: number): AskedDocument => ({ page: String(page), search: {}, queries: ['', ''] })
  const segments = new Map([['#page', randomBytes(dataBytes / 2).toString('hex')]])
  for (let page = 0; page < pages; page += 1) {
    cache.keep({
      asked: asked(page),
      uses: new SearchUses(),
      tags: [],
      since: cache.now,
      pathname: '/',
      client: `10.0.0.${page}`,
      data: Promise.resolve({ at: undefined, segments, headers: [] }),
      document: {
        lifetime: { freshMs: 600_000, staleMs: 0 },
        etag: `W/"${page}"`,
        content: () => ({ headers: [], body: randomBytes(bytes) }),
      },
    })
  }
  await Promise.resolve()
  const find = (page: number): KeptDocument | undefined => {
    const found = cache.find(asked(page))
    return found !== undefined && 'body' in found ? found : undefined
  }
  let made = 0
  const make = ({ segments: own }: DocumentData): KeptBody => {
    made += 1
    return new KeptBody([], 'W/"x"', Buffer.from(String(own.get('#page'))))
  }
  const click = (page: number, name: string, address: string) => find(page)?.answer(name, make, address)
  return { cache, clock, find, click, madeUntilNow: () => made }
}

test('codings that a stranger asks for leave a document with its data', async () => {
  const { find, click } = await openCache(1, 600_000, 400_000)
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    const answer = await click(0, name, STRANGER)
    for (const encoding of ENCODINGS) await answer?.body(encoding, STRANGER)
  }
  for (const encoding of ENCODINGS) await find(0)?.body(encoding, STRANGER)
  expect(find(0)?.isStored).toBe(true)
  expect(await click(0, 'usual', '10.0.0.1')).toBeDefined()
})

test('segments that a stranger asks for leave room for what others ask for', async () => {
  const { click, madeUntilNow } = await openCache(1, 10_000, 10_000)
  for (let index = 0; index < 1_000; index += 1) await click(0, `odd ${index}`, STRANGER)
  await click(0, 'usual', '10.0.0.1')
  const before = madeUntilNow()
  for (let index = 0; index < 1_000; index += 1) {
    await click(0, `odd ${index}`, STRANGER)
    await click(0, 'usual', '10.0.0.2')
  }
  expect(madeUntilNow() - before).toBeLessThanOrEqual(1_000)
  const last = await click(0, 'usual', '10.0.0.3')
  const coded = await last?.body('br', '10.0.0.3')
  expect(await (await click(0, 'usual', '10.0.0.4'))?.body('br', '10.0.0.4')).toBe(coded)
})

test('one client takes a share of the room, pushes out no document, and all of it is counted', async () => {
  const { cache, find, click, clock } = await openCache(12, 500_000, 400_000)
  const first = await find(0)?.body('br', '10.0.0.1')
  for (let page = 0; page < 12; page += 1) {
    clock.now += 2_000
    for (const encoding of ENCODINGS) await find(page)?.body(encoding, STRANGER)
    for (const name of ['one', 'two']) {
      const answer = await click(page, name, STRANGER)
      for (const encoding of ENCODINGS) await answer?.body(encoding, STRANGER)
    }
    expect(cache.stats.bytes).toBeLessThanOrEqual(16_777_216)
  }
  expect(find(0)?.body('br', '10.0.0.2')).toBe(first)
  for (let page = 0; page < 12; page += 1) expect(await click(page, 'usual', `10.0.1.${page}`)).toBeDefined()
})

test('a body that fits nowhere is sent all the same', async () => {
  const { find } = await openCache(1, 900_000, 2)
  for (let index = 0; index < 4; index += 1) {
    for (const encoding of ENCODINGS) expect((await find(0)?.body(encoding, STRANGER))?.length).toBeGreaterThan(0)
  }
})

test('what is kept of a document that is gone holds nothing else of it', async () => {
  const { cache, find } = await openCache(1, 900_000, 2)
  const gone = new WeakRef((find(0) as KeptDocument).headers)
  for (const encoding of ENCODINGS) await find(0)?.body(encoding, STRANGER)
  cache.remove({ page: '0', search: {}, queries: ['', ''] })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await expect.poll(() => (collect(), gone.deref())).toBeUndefined()
  expect(cache.stats.bytes).toBeGreaterThan(900_000)
})
