import type { CDPSession, Page } from 'playwright-core'
import type { BenchBrowser } from './browser-pages.ts'
import type { Measurement } from './measurement.ts'
import { startServer } from './server-process.ts'
import type { Contestant } from './server-process.ts'
import { slope } from './statistics.ts'
import { planRound, VISITS_PER_ROUND } from './visit-plan.ts'
import type { Visit } from './visit-plan.ts'

const SAMPLES = 10
const WARM_UP_SAMPLES = 4 // the route cache is full after 500 pages, and compiled code has settled; growth counts from there
const MOST_BYTES = 100 // far below what one kept page, entry or listener takes
const MOST_NODES = 0.05 // a page has over a hundred; one that is let go late, at the last sample, may stand out
const START_PATH = '/lab/cache/start'

/** What a page holds after a garbage collection. Source: Chrome DevTools Protocol, `Performance.getMetrics`. */
interface Sample {
  /** Navigations so far. */
  readonly navigations: number
  /** Bytes. */
  readonly heap: number
  readonly nodes: number
  readonly listeners: number
  /** Of one navigation since the sample before, in ms. */
  readonly time: number
}

/**
 * Growth of one page's heap, nodes and listeners per navigation, while its links are followed.
 * @param options `navigations` is rounded up to full samples of ten rounds.
 * @throws {Error} when a navigation does not arrive, the document is loaded anew, or a page complained.
 */
export async function measureNavigations(
  browser: BenchBrowser,
  ours: Contestant,
  { navigations }: { readonly navigations: number },
): Promise<Measurement[]> {
  await using server = await startServer(ours, START_PATH)
  const context = await browser.open()
  const page = await context.newPage()
  await page.goto(server.origin + START_PATH)
  await page.waitForFunction(() => history.state?.millrace !== undefined)
  await page.locator('h1').click() // React hydrates at once what is clicked
  await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }))
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable')

  const rounds = Math.ceil(navigations / SAMPLES / VISITS_PER_ROUND)
  const samples: Sample[] = []
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const start = performance.now()
    for (let round = 0; round < rounds; round += 1) {
      await page.evaluate(makeVisits, planRound(sample * rounds + round))
    }
    const visits = rounds * VISITS_PER_ROUND
    const taken = (performance.now() - start) / visits
    const held = { ...(await readPage(session)), navigations: (sample + 1) * visits, time: taken }
    samples.push(held)
    console.log(
      `      ${held.navigations.toLocaleString('en')} navigations: heap ${kilobytes(held.heap)}, ${held.nodes} nodes, ` +
        `${held.listeners} listeners, ${taken.toFixed(1)} ms each`,
    )
  }
  if (!(await isSameDocument(page))) throw new Error('A navigation has loaded a document: its heap is another one.')
  browser.check()
  return growth(samples)
}

function growth(samples: readonly Sample[]): Measurement[] {
  const counted = samples.slice(WARM_UP_SAMPLES)
  const [first] = counted
  const last = counted.at(-1)
  if (first === undefined || last === undefined) throw new Error('No navigations were measured.')
  const per = (figure: (sample: Sample) => number): number =>
    slope(counted.map((sample) => ({ x: sample.navigations, y: figure(sample) })))
  const range = `from ${first.navigations.toLocaleString('en')} to ${last.navigations.toLocaleString('en')} navigations`
  return [
    {
      name: 'growth in the browser, heap',
      value: per(({ heap }) => heap),
      unit: 'B/navigation',
      gate: { bound: '<', limit: MOST_BYTES },
      detail: `${kilobytes(first.heap)} to ${kilobytes(last.heap)}, ${range}`,
    },
    ...(['nodes', 'listeners'] as const).map((figure): Measurement => ({
      name: `growth in the browser, ${figure}`,
      value: per((sample) => sample[figure]),
      unit: '/navigation',
      gate: { bound: '<', limit: MOST_NODES },
      detail: `${first[figure].toLocaleString('en')} to ${last[figure].toLocaleString('en')}`,
    })),
  ]
}

/** Collects garbage twice, since finalizers of the first round let more go, and reads what is left. */
async function readPage(session: CDPSession): Promise<Pick<Sample, 'heap' | 'nodes' | 'listeners'>> {
  for (let time = 0; time < 2; time += 1) await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  const value = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
  return { heap: value('JSHeapUsedSize'), nodes: value('Nodes'), listeners: value('JSEventListeners') }
}

function isSameDocument(page: Page): Promise<boolean> {
  return page.evaluate(() => 'sameDocument' in globalThis)
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1024).toLocaleString('en')} KiB`
}

// What follows runs inside of the page.

/** Navigates, one visit after the other, each as soon as the one before is in the document. */
async function makeVisits(visits: readonly Visit[]): Promise<void> {
  const LIMIT_MS = 20_000

  /** A link of its own, so that every page can lead to every other one. It is not fetched ahead. */
  function click(path: string): void {
    const link = document.createElement('a')
    link.href = path
    link.dataset['prefetch'] = 'none'
    document.querySelector('main')?.append(link)
    link.click()
    link.remove()
  }

  function arrival({ path, heading }: Visit): Promise<void> {
    return new Promise((done, failed) => {
      const isThere = (): boolean => location.pathname === path && document.querySelector('h1')?.textContent === heading
      const observer = new MutationObserver(() => {
        if (!isThere()) return
        clearTimeout(late)
        observer.disconnect()
        done()
      })
      const late = setTimeout(() => {
        observer.disconnect()
        failed(new Error(`${path} did not come; this is ${location.pathname}.`))
      }, LIMIT_MS)
      observer.observe(document, { subtree: true, childList: true, characterData: true })
    })
  }

  for (const visit of visits) {
    const arrived = arrival(visit)
    if (visit.first !== undefined) click(visit.first)
    if (visit.how === 'back') history.back()
    else click(visit.path)
    await arrived
  }
}
