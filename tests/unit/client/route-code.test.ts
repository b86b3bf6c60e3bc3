import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRouteCode } from '../../../src/client/core/page/route-code.ts'
import { createSegmentFiles } from '../../../src/client/core/page/segment-files.ts'
import { createModuleCache } from '../../../src/client/react/module-cache.ts'
import type { RouteView } from '../../../src/client/react/route-view.ts'
import { encodeSegmentFiles } from '../../../src/shared/protocol/segment-files.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const LIST = encodeSegmentFiles({ '/': { page: { scripts: ['/_m/assets/a.js'], styles: ['/_m/assets/a.css'] } } })

const never = (): Promise<never> => new Promise(() => undefined)

/** What becomes of the route `/`, whose module, stylesheet and list of files come as these do. */
function load(page: () => Promise<unknown>, style: () => Promise<void>, list: () => Promise<unknown>) {
  const code = createRouteCode({
    // It has been asked for already.
    document: { querySelector: () => ({}) } as unknown as Document,
    modules: createModuleCache(),
    files: createSegmentFiles('b1', list),
    styles: { load: style, show: () => undefined, preload: () => undefined },
  })
  const controller = new AbortController()
  const end: { reason?: unknown; loaded?: true } = {}
  vi.stubGlobal('CSS', { escape: String })
  code.load({ chain: [{ key: '/', definition: { page } }] }, controller.signal).then(
    () => (end.loaded = true),
    (reason: unknown) => (end.reason = reason),
  )
  return { controller, end }
}

const here = async (): Promise<void> => undefined
const module = async (): Promise<unknown> => ({})
const list = async (): Promise<unknown> => LIST

test('what comes in time is loaded', async () => {
  const { end } = load(module, here, list)
  await vi.advanceTimersByTimeAsync(0)
  expect(end).toEqual({ loaded: true })
})

describe('stylesheets of the page on screen', () => {
  const segments = {
    '/': {
      layout: { scripts: [], styles: ['/_m/assets/layout.css'] },
      error: { scripts: [], styles: ['/_m/assets/error.css'] },
    },
    '/a': { page: { scripts: [], styles: ['/_m/assets/page.css'] } },
  }
  const chain = [
    { key: '/', definition: { layout: module, error: module } },
    { key: '/a', definition: { page: module } },
  ] as unknown as RouteView['chain']

  function createShown() {
    const shown: (readonly string[])[] = []
    const files = createSegmentFiles('b1', async () => encodeSegmentFiles(segments))
    const code = createRouteCode({
      document: { querySelector: () => ({}) } as unknown as Document,
      modules: createModuleCache(),
      files,
      styles: { load: here, show: (hrefs) => void shown.push(hrefs), preload: () => undefined },
    })
    return { code, files, shown }
  }

  test('are left alone until it is known which files a page needs', async () => {
    const { code, files, shown } = createShown()
    code.show({ chain })
    expect(shown).toEqual([])
    await files.get()
    code.show({ chain })
    expect(shown).toEqual([['/_m/assets/layout.css', '/_m/assets/page.css']])
  })

  test('are those of a fallback and the layouts above it, once it is shown in the place of the page', async () => {
    const { code, files, shown } = createShown()
    await files.get()
    code.show({ chain, outcome: { kind: 'error', at: 0 } })
    expect(shown).toEqual([['/_m/assets/layout.css', '/_m/assets/error.css']])
  })

  test('stay on for the last resort, which has none of its own', async () => {
    const { code, files, shown } = createShown()
    await files.get()
    code.show({ chain, outcome: { kind: 'error', at: -1 } })
    expect(shown).toEqual([])
  })
})

test.for<[string, () => Promise<unknown>, () => Promise<void>, () => Promise<unknown>, string]>([
  ['the module', never, here, list, 'script: /_m/assets/a.js'],
  ['the stylesheet', module, never, list, 'stylesheet: /_m/assets/a.css'],
  ['the list of files', module, here, never, 'stylesheet: /_m/assets/segments-b1.json'],
])('%s is given 3.8 s, and named', async ([, page, style, files, what]) => {
  const { end } = load(page, style, files)
  await vi.advanceTimersByTimeAsync(3799)
  expect(end).toEqual({})
  await vi.advanceTimersByTimeAsync(1)
  expect(String(end.reason)).toBe(`RouteLoadError: Failed to load ${what}`)
})

test.for([
  ['Failed to fetch dynamically imported module: https://a.test/x.js', 'https://a.test/x.js'],
  ['Importing a module script failed.', '/_m/assets/a.js'],
] as const)('a module that fails (%s) is named at once: %s', async ([message, url]) => {
  const { end } = load(() => Promise.reject(new TypeError(message)), here, list)
  await vi.advanceTimersByTimeAsync(0)
  expect(String(end.reason)).toBe(`RouteLoadError: Failed to load script: ${url}`)
})

test.for<[string, () => Promise<void>, () => Promise<unknown>]>([
  ['a stylesheet', () => Promise.reject(new Error('gone')), list],
  ['the list of files', here, () => Promise.reject(new Error('gone'))],
])('%s that fails is heard of once the module is here: a fallback is shown without it', async ([, style, files]) => {
  const page = Promise.withResolvers<unknown>()
  const { end } = load(() => page.promise, style, files)
  await vi.advanceTimersByTimeAsync(0)
  expect(end).toEqual({})
  page.resolve({})
  await vi.advanceTimersByTimeAsync(0)
  expect(String(end.reason)).toMatch(/gone|stylesheet/)
})

test('nobody waits for it any more: it is cancelled', async () => {
  const { controller, end } = load(never, here, list)
  controller.abort()
  await vi.advanceTimersByTimeAsync(0)
  expect(String(end.reason)).toBe('RouteCancelled: Route cancelled')
})

test('what is named as missing is missing: neither the layout that is on the screen, nor a stylesheet that is here', async () => {
  const listed = encodeSegmentFiles({
    '/': { layout: { scripts: ['/_m/assets/layout.js'], styles: ['/_m/assets/layout.css'] } },
    '/a': { page: { scripts: ['/_m/assets/page.js'], styles: ['/_m/assets/page.css'] } },
  })
  const modules = createModuleCache()
  await modules.load([module])
  const reasons: string[] = []
  for (const page of [never, module]) {
    const code = createRouteCode({
      document: {
        querySelector: (selector: string) => ({ sheet: selector.includes('layout.css') ? {} : null }),
      } as unknown as Document,
      modules,
      files: createSegmentFiles('b1', async () => listed),
      styles: { load: never, show: () => undefined, preload: () => undefined },
    })
    vi.stubGlobal('CSS', { escape: String })
    const chain = [
      { key: '/', definition: { layout: module } },
      { key: '/a', definition: { page } },
    ]
    code.load({ chain }, new AbortController().signal).catch((reason: unknown) => reasons.push(String(reason)))
    await vi.advanceTimersByTimeAsync(3800)
  }
  expect(reasons).toEqual([
    'RouteLoadError: Failed to load script: /_m/assets/page.js',
    'RouteLoadError: Failed to load stylesheet: /_m/assets/page.css',
  ])
})
