import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createSegmentFiles } from '../../../src/client/core/page/segment-files.ts'
import { decodeSegmentFiles, encodeSegmentFiles } from '../../../src/shared/protocol/segment-files.ts'

const fileName = fc.string({ minLength: 1 }).filter((name) => !name.endsWith('.css') && !name.startsWith('/'))
const script = fc.oneof(
  fileName.map((name) => `/_m/assets/${name}`),
  fileName.map((name) => `/elsewhere/${name}`),
)
const moduleFiles = fc.record({
  scripts: fc.array(script, { maxLength: 4 }),
  styles: fc.array(
    script.map((path) => `${path}.css`),
    { maxLength: 4 },
  ),
})
// An object that JSON gives has a prototype; these are the names by which that would show.
const key = fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', 'valueOf'))
const segments = fc.dictionary(key, fc.dictionary(fc.constantFrom('page', 'layout', 'error'), moduleFiles), {
  noNullPrototype: true,
})

describe('the list of segment files', () => {
  test('comes back as it was, for any table', () => {
    fc.assert(
      fc.property(segments, (table) => {
        const files = decodeSegmentFiles(JSON.parse(JSON.stringify(encodeSegmentFiles(table))))
        for (const [key, kinds] of Object.entries(table)) {
          for (const kind of ['page', 'layout', 'error']) expect(files.of(key, kind)).toEqual(kinds[kind])
          for (const { scripts, styles } of Object.values(kinds)) {
            expect([...scripts, ...styles].every(files.names)).toBe(true)
          }
        }
      }),
    )
  })

  test('has no modules but those of the table', () => {
    const files = decodeSegmentFiles(encodeSegmentFiles({ '/': { page: { scripts: [], styles: [] } } }))
    expect(files.of('/', 'page')).toEqual({ scripts: [], styles: [] })
    expect(files.of('/', 'layout')).toBeUndefined()
    expect(files.of('/other', 'page')).toBeUndefined()
    expect(files.of('constructor', 'name')).toBeUndefined()
    expect(files.of('/', 'constructor')).toBeUndefined()
    expect(files.names('/_m/assets/x.css')).toBe(false)
  })

  test('names each file once, however many modules need it', () => {
    const shared = { scripts: ['/_m/assets/a.js', '/_m/assets/b.js'], styles: ['/_m/assets/c.css'] }
    const record = encodeSegmentFiles({ '/': { layout: shared, page: shared }, '/x': { page: shared } })
    expect(record).toEqual({
      v: 1,
      files: ['a.js', 'b.js', 'c.css'],
      segments: { '/': { layout: [0, 1, 2], page: [0, 1, 2] }, '/x': { page: [0, 1, 2] } },
    })
  })

  test.for([null, undefined, 1, '<!doctype html>', [], {}, { v: 2, files: [], segments: {} }, { v: 1, files: [] }])(
    'is not read from %j',
    (record) => {
      expect(() => decodeSegmentFiles(record)).toThrow('Not a list of segment files')
    },
  )

  test('may name files that it does not have without breaking a navigation', () => {
    const files = decodeSegmentFiles({ v: 1, files: ['a.js'], segments: { '/': { page: [0, 7], layout: 'x' } } })
    expect(files.of('/', 'page')).toEqual({ scripts: ['/_m/assets/a.js'], styles: [] })
    expect(files.of('/', 'layout')).toBeUndefined()
  })
})

describe('fetching the list', () => {
  const record = encodeSegmentFiles({ '/': { page: { scripts: ['/_m/assets/a.js'], styles: [] } } })

  test('happens once, at the URL of the build, however often it is asked for', async () => {
    const fetchJson = vi.fn<(url: string) => Promise<unknown>>(async () => record)
    const source = createSegmentFiles('abc', fetchJson)
    expect(fetchJson).not.toHaveBeenCalled()
    const [first, second] = await Promise.all([source.get(), source.get()])
    expect(first).toBe(second)
    expect(first.of('/', 'page')?.scripts).toEqual(['/_m/assets/a.js'])
    expect(fetchJson.mock.calls).toEqual([['/_m/assets/segments-abc.json']])
  })

  test('is tried again after a failure, and there for all once it has come', async () => {
    const answers = [Promise.reject(new Error('offline')), Promise.resolve('<!doctype html>'), Promise.resolve(record)]
    const fetchJson = vi.fn<(url: string) => Promise<unknown>>(
      () => answers.shift() ?? Promise.reject(new Error('asked too often')),
    )
    const source = createSegmentFiles('abc', fetchJson)
    await expect(source.get()).rejects.toThrow('offline')
    await expect(source.get()).rejects.toThrow('Not a list of segment files')
    expect(source.listed).toBeUndefined()
    expect((await source.get()).names('/_m/assets/a.js')).toBe(true)
    expect(source.listed?.names('/_m/assets/a.js')).toBe(true)
    await source.get()
    expect(fetchJson).toHaveBeenCalledTimes(3)
  })
})
