import type { BrowserContext } from 'playwright-core'
import type { BenchBrowser } from './browser-pages.ts'
import { bundleReactAlone } from './bundle.ts'
import type { Measurement } from './measurement.ts'
import { mostBeyond, PROBE_SCRIPT } from './page-probe.ts'
import type { PageProbe, ProbedScope } from './page-probe.ts'
import { startServer } from './server-process.ts'
import type { Contestant } from './server-process.ts'
import { median } from './statistics.ts'

const LINKS = 1000
const MOST_SHARE_PERCENT = 5
// By the links that are in view: the first one begins 11 pixels below the top.
const WINDOWS = {
  none: { width: 1280, height: 8 },
  one: { width: 1280, height: 20 },
  usual: { width: 1280, height: 720 },
} as const
const SDK_PATH = /\/reports-[^/]+\.js$/
const REACT_ALONE_PATH = '/react-alone'

const pathOf = (links: number): string => `/lab/bench/links?n=${links}`

/**
 * What a thousand links cost a page that has all of them in the care of the client router: observers, listeners, and time
 * beside the time that React takes to hydrate them.
 *
 * Observers and listeners are counted on pages without the SDK of reports, whose own would be among them, and come late.
 *
 * The time is all that the router runs in idle callbacks, mutation observers and the intersection observer, whatever they
 * call. So that it is watching and not fetching ahead, the window is so low that no link is in view, and a page of which
 * one is fails. Windows with one link in view, and with as many as usual, are shown beside it and not judged: what they
 * add is the fetching of what is seen, on its way through the SDK that traces it. What the browser itself does to find
 * intersections is not in it, and neither are the few calls that set the watching up. Hydration is all that React does in
 * its scheduler's messages: the application's entry and modules are not in it.
 * @throws {Error} when not all links are watched, links are in view that should not be, or a page complained.
 */
export async function measureLinkWatching(
  browser: BenchBrowser,
  ours: Contestant,
  { loads }: { readonly loads: number },
): Promise<Measurement[]> {
  await using server = await startServer(ours, pathOf(1))
  const alone = await probeReactAlone(await browser.open(), server.origin)
  const withoutSdk = await browser.open()
  await withoutSdk.addInitScript({ content: PROBE_SCRIPT })
  await withoutSdk.route(SDK_PATH, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: 'export function startReports() {}' }),
  )
  const single = await probe(withoutSdk, server.origin, 1, 'none')
  const many = await probe(withoutSdk, server.origin, LINKS, 'none')
  const context = await browser.open()
  await context.addInitScript({ content: PROBE_SCRIPT })
  const probes: PageProbe[] = []
  const withOne: PageProbe[] = []
  const inWindow: PageProbe[] = []
  for (let load = 0; load < loads; load += 1) {
    probes.push(await probe(context, server.origin, LINKS, 'none'))
    withOne.push(await probe(context, server.origin, LINKS, 'one'))
    inWindow.push(await probe(context, server.origin, LINKS, 'usual'))
  }
  browser.check()

  const fullest = mostBeyond(many.onDocument, alone.onDocument)
  const name = `${LINKS.toLocaleString('en')} links`
  return [
    {
      name: `intersection observers, ${name}`,
      value: Math.max(...[many, ...probes].map(({ observers }) => observers)),
      unit: 'per page',
      gate: { bound: '≤', limit: 1 },
      detail: `${many.observed.toLocaleString('en')} links observed`,
    },
    {
      name: 'document listeners an event type',
      value: fullest.count,
      unit: 'per page',
      gate: { bound: '≤', limit: 1 },
      detail: `over React alone, most of them: ${fullest.type}; on elements: ${many.onElements}`,
    },
    {
      name: `listeners and observers for ${name}`,
      value: everyListener(many) + many.observers - everyListener(single) - single.observers,
      unit: 'per page',
      gate: { bound: '≤', limit: 0 },
      detail: 'over those of the page with 1 link',
    },
    {
      name: `link watching, ${name}`,
      ...shareOfHydration(probes),
      gate: { bound: '<', limit: MOST_SHARE_PERCENT },
    },
    { name: '  and fetching ahead the one in view', ...shareOfHydration(withOne) },
    { name: '  and fetching ahead all in a usual view', ...shareOfHydration(inWindow) },
  ]
}

function shareOfHydration(probes: readonly PageProbe[]): Pick<Measurement, 'value' | 'unit' | 'detail'> {
  const shares = probes.map(({ watchingMs, reactMs }) => (100 * watchingMs) / reactMs)
  const milliseconds = (values: readonly number[]): string =>
    `${median(values).toFixed(1)} ms (fastest ${Math.min(...values).toFixed(1)})`
  return {
    value: median(shares),
    unit: '%',
    detail:
      `${milliseconds(probes.map(({ watchingMs }) => watchingMs))} beside hydration of ` +
      `${milliseconds(probes.map(({ reactMs }) => reactMs))}; ${probes.length} loads, ` +
      `${Math.min(...shares).toFixed(1)} to ${Math.max(...shares).toFixed(1)} %`,
  }
}

function everyListener({ onDocument, onWindow, onElements }: PageProbe): number {
  const counts = [...Object.values(onDocument), ...Object.values(onWindow)]
  return counts.reduce((sum, count) => sum + count, onElements)
}

/** Loads a page, and waits until it is hydrated, all its links are watched, and the observer has told of each. */
async function probe(
  context: BrowserContext,
  origin: string,
  links: number,
  inView: keyof typeof WINDOWS,
): Promise<PageProbe> {
  const page = await context.newPage()
  await page.setViewportSize(WINDOWS[inView])
  await page.goto(origin + pathOf(links))
  await page.waitForFunction(isWatched, links)
  const seen = await page.evaluate(readProbe)
  await page.close()
  if (seen.observed !== links) throw new Error(`${pathOf(links)}: ${seen.observed} links are watched.`)
  if (inView === 'none' && seen.inView > 0) throw new Error(`${pathOf(links)}: ${seen.inView} links are in view.`)
  if (!(seen.reactMs > 0)) throw new Error(`${pathOf(links)}: React's work was not seen.`)
  return seen
}

/** The listeners of React itself. What it hydrates does not matter. */
async function probeReactAlone(context: BrowserContext, origin: string): Promise<PageProbe> {
  await context.addInitScript({ content: PROBE_SCRIPT })
  const script = new TextDecoder().decode(await bundleReactAlone())
  await context.route(origin + REACT_ALONE_PATH, (route) =>
    route.fulfill({
      contentType: 'text/html; charset=utf-8',
      body: `<!doctype html><html><head></head><body></body><script type="module">${script.replaceAll('</', '<\\/')}</script></html>`,
    }),
  )
  const page = await context.newPage()
  await page.goto(origin + REACT_ALONE_PATH)
  await page.waitForFunction(() => 'click' in ((globalThis as unknown as ProbedScope).pageProbe?.onDocument ?? {}))
  const seen = await page.evaluate(readProbe)
  await context.close()
  return seen
}

// What follows runs inside of the pages.

function isWatched(links: number): boolean {
  const last = [...document.querySelectorAll('main a')].at(-1)
  const hydrated = last !== undefined && Object.keys(last).some((key) => key.startsWith('__reactProps$'))
  return hydrated && ((globalThis as unknown as ProbedScope).pageProbe?.observed ?? 0) >= links
}

/** Read two idle moments later: hydration may have begun effects, and the observer requests. */
async function readProbe(): Promise<PageProbe> {
  for (let moment = 0; moment < 2; moment += 1) await new Promise((idle) => requestIdleCallback(idle))
  const { pageProbe } = globalThis as unknown as ProbedScope
  if (pageProbe === undefined) throw new Error('The probe was not installed.')
  return structuredClone(pageProbe)
}
