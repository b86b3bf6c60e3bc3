/**
 * Time from a save to the screen in development, on the reference application: the file is written, and Chromium shows the
 * change. Beside it the round trip of an empty watcher, which no server can beat.
 */
import { once } from 'node:events'
import { watch } from 'node:fs'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { startDevServer } from '../../scripts/dev/dev-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import type { BenchBrowser } from './browser-pages.ts'
import { PROJECT } from './bundle.ts'
import type { Measurement } from './measurement.ts'
import { median } from './statistics.ts'

/** A kind of change, with the page's sign of it. */
interface Save {
  readonly name: string
  /** The target of a quiet machine. */
  readonly limitMs: number
  /** In `src/app`. */
  readonly file: string
  /** The text of the file after the save with this number; never the same twice. */
  readonly edit: (text: string, count: number) => string
  /** Runs in the page: whether the save with this number is on the screen. */
  readonly isShown: (count: number) => boolean
  /** Whether the page stays, with what was typed into it. */
  readonly keepsPage: boolean
}

const GUESTBOOK = 'lab/guestbook'
const TYPED = 'typed before the save'

const SAVES: readonly Save[] = [
  {
    name: 'component',
    limitMs: 250,
    file: `${GUESTBOOK}/sign-form.tsx`,
    edit: (text, count) => text.replace('label="Name"', `label="Name ${count}"`),
    isShown: (count) => document.querySelector('form label')?.textContent.includes(`Name ${count}`) === true,
    keepsPage: true,
  },
  {
    name: 'stylesheet',
    limitMs: 100,
    file: `${GUESTBOOK}/sign-form.module.css`,
    edit: (text, count) => `${text}\n.form { outline-offset: ${count}px }\n`,
    isShown: (count) =>
      getComputedStyle(document.querySelector('form[novalidate]') ?? document.body).outlineOffset === `${count}px`,
    keepsPage: true,
  },
  {
    name: 'loader',
    limitMs: 400,
    file: `${GUESTBOOK}/loader.server.ts`,
    edit: (text, count) => text.replace('...rest,', `...rest, total: ${7_000 + count},`),
    isShown: (count) =>
      document.querySelector('h2')?.textContent.includes(`7,${String(count).padStart(3, '0')} `) === true,
    keepsPage: true,
  },
  {
    name: 'module of both sides',
    limitMs: 400,
    file: `${GUESTBOOK}/entry.ts`,
    edit: (text, count) => text.replace('LONGEST_NAME = 40', `LONGEST_NAME = ${1_000 + count}`),
    isShown: (count) => document.querySelector('form')?.textContent.includes(`Up to ${1_000 + count} `) === true,
    keepsPage: true,
  },
  {
    name: 'syntax error',
    limitMs: 250,
    file: `${GUESTBOOK}/sign-form.tsx`,
    edit: (text, count) => `${text}\nconst ${count}\n`,
    isShown: () => document.querySelector('millrace-overlay') !== null,
    keepsPage: true,
  },
  {
    name: 'syntax error mended',
    limitMs: 250,
    file: `${GUESTBOOK}/sign-form.tsx`,
    edit: (text, count) => `${text}\nconst mended${count} = ${count}\n`,
    isShown: () => document.querySelector('millrace-overlay') === null,
    keepsPage: true,
  },
  {
    name: 'route table',
    limitMs: 700,
    file: 'routes.ts',
    edit: (text, count) =>
      text.replace(
        "'/(site)/lab/guestbook'",
        `'/(site)/lab/new-${count}': { page: () => import('./lab/page.tsx') },\n  '/(site)/lab/guestbook'`,
      ),
    isShown: () => !('before' in window) && document.readyState === 'complete',
    keepsPage: false,
  },
]

/** Saves that are measured again where the table has many more routes. */
const WITH_MANY_ROUTES = new Set(['component', 'loader', 'route table'])
const MANY_ROUTES = 1_000

/** Development prepares for the next save in the second after one; people look at the first one longer. */
const PAUSE_MS = 1_500

const MOST_WAIT_MS = 120_000 // a slow save is a figure, one that never shows is a failure

/** One start, until a page is shown. */
interface Start {
  /** Until the server listens, and requests wait for the first build. */
  readonly readyMs: number
  /** From then until the first page is hydrated, asked for at once. */
  readonly firstPageMs: number
}

/** One application in development, on the screen. */
interface Session {
  readonly first: Start
  /** With bundles of packages that the first one has kept. */
  readonly second: Start
  readonly watcherMs: number
  readonly times: ReadonlyMap<Save, readonly number[]>
}

/**
 * Uses all cores: a development server, its compilers and the browser share them.
 * @throws {Error} when a save did not show, or what was typed was lost.
 */
export async function measureDevSaves(
  browser: BenchBrowser,
  { saves }: { readonly saves: number },
): Promise<Measurement[]> {
  const own = await measureSession(browser, { saves, kinds: SAVES, routes: 0 })
  const many = await measureSession(browser, {
    saves: Math.max(3, Math.ceil(saves / 4)),
    kinds: SAVES.filter(({ name }) => WITH_MANY_ROUTES.has(name)),
    routes: MANY_ROUTES,
  })
  const measured: Measurement[] = [
    ...startMeasurements('first start', own.first),
    ...startMeasurements('second start', own.second),
  ]
  for (const [{ name, limitMs }, all] of own.times) {
    measured.push({
      name: `dev, ${name}`,
      value: median(all),
      unit: 'ms',
      detail: `${limitMs} asked of a quiet machine; unpinned; ${all.length} saves, ${PAUSE_MS} ms after the one before, ${spread(all)}; an empty watcher ${own.watcherMs.toFixed(1)} ms`,
    })
  }
  for (const [save, all] of many.times) {
    const alone = median(own.times.get(save) ?? [])
    measured.push({
      name: `dev, ${save.name}, ${MANY_ROUTES.toLocaleString('en')} routes more`,
      value: median(all) / alone,
      unit: '×',
      detail: `2 asked; of the reference application alone, ${median(all).toFixed(0)} ms of ${alone.toFixed(0)} ms; ${all.length} saves, ${spread(all)}`,
    })
  }
  return measured
}

function startMeasurements(name: string, { readyMs, firstPageMs }: Start): Measurement[] {
  const ready = '1500 asked of a quiet machine; once, unpinned'
  const shown = 'from ready to a hydrated page, with the first build; once'
  return [
    { name: `dev, ready, ${name}`, value: readyMs, unit: 'ms', detail: ready },
    { name: `dev, first page, ${name}`, value: firstPageMs, unit: 'ms', detail: shown },
  ]
}

/** From the tenth to the ninetieth percentile, and all. */
function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.round(share * (sorted.length - 1))] ?? 0).toFixed(0)
  return `p10 ${at(0.1)}, p90 ${at(0.9)}, all ${at(0)} to ${at(1)} ms`
}

async function measureSession(
  browser: BenchBrowser,
  { saves, kinds, routes }: { readonly saves: number; readonly kinds: readonly Save[]; readonly routes: number },
): Promise<Session> {
  await using folder = await makeTempDir('bench-dev')
  const root = folder.path
  await Promise.all(
    ['src', 'docs', 'package.json', 'types.d.ts'].map((name) =>
      cp(join(PROJECT, name), join(root, name), { recursive: true }),
    ),
  )
  await symlink(join(PROJECT, 'node_modules'), join(root, 'node_modules'))
  if (routes > 0) await addRoutes(join(root, 'src/app'), routes)
  const first = await openSession(browser, root)
  await first.close()
  const second = await openSession(browser, root)
  const { page } = second
  try {
    await page.locator('input[name="name"]').fill(TYPED)
    const watcherMs = await watcherRoundTrip(root, saves)
    const originals = new Map<Save, string>()
    for (const save of kinds) originals.set(save, await readFile(join(root, 'src/app', save.file), 'utf8'))
    const times = new Map<Save, number[]>(kinds.map((save) => [save, []]))
    for (let count = 1; count <= saves; count += 1) {
      for (const [save, original] of originals)
        times.get(save)?.push(await saveTime(page, save, { file: join(root, 'src/app', save.file), original, count }))
    }
    return { first, second, watcherMs, times }
  } finally {
    await second.close()
  }
}

/** Starts a server, and opens a page of it as soon as it listens. */
async function openSession(
  browser: BenchBrowser,
  root: string,
): Promise<Start & { readonly page: Page; close(): Promise<void> }> {
  const context = await browser.open()
  const page = await context.newPage()
  const listening = Promise.withResolvers<string>()
  const started = performance.now()
  const starting = startDevServer({
    root,
    app: join(root, 'src/app'),
    runtime: { folder: join(root, 'src'), compiled: false },
    out: join(root, '.dev'),
    cache: join(root, '.dev-packages'),
    port: 0,
    env: { ...process.env, DATA_DIR: join(root, 'data'), NODE_ENV: 'development' },
    session: 'bench',
    onListening: ({ url }) => listening.resolve(url),
    print: () => undefined,
  })
  starting.catch(listening.reject)
  const url = await listening.promise
  const readyMs = performance.now() - started
  await page.goto(`${url}/${GUESTBOOK}`, { timeout: MOST_WAIT_MS })
  await page.waitForFunction(() => history.state?.millrace !== undefined, undefined, { timeout: MOST_WAIT_MS })
  const firstPageMs = performance.now() - started - readyMs
  const dev = await starting
  return {
    readyMs,
    firstPageMs,
    page,
    async close() {
      await context.close()
      await dev.close()
    },
  }
}

/** Routes with a page, a loader and a stylesheet each. */
async function addRoutes(app: string, count: number): Promise<void> {
  const folder = join(app, 'generated')
  const entries = Array.from({ length: count }, (_, at) => {
    const files = `./generated/route-${at}`
    return `  '/(site)/generated/route-${at}': { page: () => import('${files}/page.tsx'), loader: () => import('${files}/loader.server.ts') },\n`
  })
  for (let at = 0; at < count; at += 1) {
    const route = join(folder, `route-${at}`)
    await mkdir(route, { recursive: true })
    await writeFile(join(route, 'loader.server.ts'), `export const loader = () => ({ at: ${at} })\n`)
    await writeFile(join(route, 'page.module.css'), `.page { order: ${at} }\n`)
    const page = `import styles from './page.module.css'\n\nexport default function Page() {\n  return <p className={styles['page']}>${at}</p>\n}\n`
    await writeFile(join(route, 'page.tsx'), page)
  }
  const table = join(app, 'routes.ts')
  const text = await readFile(table, 'utf8')
  await writeFile(table, text.replace('defineRoutes({\n', `defineRoutes({\n${entries.join('')}`))
}

async function saveTime(
  page: Page,
  save: Save,
  { file, original, count }: { readonly file: string; readonly original: string; readonly count: number },
): Promise<number> {
  await page.evaluate(() => Object.assign(window, { before: true }))
  await delay(PAUSE_MS)
  const text = save.edit(original, count)
  if (text === original) throw new Error(`${save.file}: nothing to edit`)
  const started = performance.now()
  await writeFile(file, text)
  await page.waitForFunction(save.isShown, count, { polling: 'raf', timeout: MOST_WAIT_MS })
  const time = performance.now() - started
  if (save.keepsPage) {
    const kept = await page.evaluate(() => 'before' in window)
    const typed = await page.locator('input[name="name"]').inputValue()
    if (!kept || typed !== TYPED)
      throw new Error(`${save.name}: the page has lost ${kept ? 'what was typed' : 'its state'}`)
  } else {
    await page.waitForFunction(() => history.state?.millrace !== undefined, undefined, { timeout: MOST_WAIT_MS })
    await page.locator('input[name="name"]').fill(TYPED)
  }
  return time
}

/** From a write to the event, as `fs.watch` tells it. */
async function watcherRoundTrip(folder: string, times: number): Promise<number> {
  const watcher = watch(folder)
  const all: number[] = []
  for (let count = 0; count < times; count += 1) {
    const started = performance.now()
    const heard = once(watcher, 'change')
    await writeFile(join(folder, 'watched.txt'), String(count))
    await heard
    all.push(performance.now() - started)
  }
  watcher.close()
  return median(all)
}
