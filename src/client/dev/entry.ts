/**
 * The development server's part in a page: refreshes changed modules, shows failures, and has a panel that shows the
 * client router's work. It is loaded before the application's own entry, and is not part of a production build.
 */
import { basePath } from '../../shared/base-path.ts'
import { observePage } from '../inspect/observe-page.ts'
import type { ReportingPage, PageReports } from '../reports/page-reports.ts'
import {
  DEV_BUILD_TIMING,
  DEV_EVENTS_PATH,
  DEV_STACK_PATH,
  type DevFailure,
  type DevMessage,
  type RenewedModule,
} from './dev-messages.ts'
import { findInsight } from './find-insight.ts'
import { createOverlay } from './overlay.ts'
import { createPanelSetting } from './panel-setting.ts'
import { createPanel } from './panel.ts'
import { createRefetch, type Refetch } from './refetch.ts'
import { installRefresh, type Refresh } from './refresh.ts'
import { swapStylesheets } from './stylesheets.ts'

const page = createRefetch()
const observer = observePage(window)
connect(
  new EventSource(basePath() + DEV_EVENTS_PATH),
  installRefresh(window, (url) => import(url)),
  page,
)
const panel = createPanel(window, createPanelSetting(window), observer)
findInsight(window, (insight, router) => {
  page.found(insight)
  observer.watchCache(insight.known, insight.subscribe)
  observer.watchCalls(router)
  panel.inspect(insight)
})

function connect(events: EventSource, refresh: Refresh, { refetch }: Refetch): void {
  const overlay = createOverlay(document)
  const state = { session: '', build: documentBuild(), updates: Promise.resolve() }

  /** Has the development server translate the stack, because it knows the sources of the files that it has served. */
  async function report(thrown: unknown): Promise<void> {
    const { message, stack } = thrown instanceof Error ? thrown : { message: String(thrown), stack: '' }
    const answer = await fetch(basePath() + DEV_STACK_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message, stack }),
    })
    const failure: DevFailure = await answer.json()
    overlay.show(failure)
  }

  function onThrown(thrown: unknown): void {
    // A digest means that the server has failed, and it reports more than this copy in the browser.
    if (typeof thrown === 'object' && thrown !== null && 'digest' in thrown) return
    report(thrown).catch(() => undefined) // the development server is gone
  }

  function update(modules: readonly RenewedModule[]): void {
    state.updates = state.updates
      .then(() => refresh.apply(modules))
      .then(
        () => overlay.clear('browser'),
        (thrown: unknown) => onThrown(thrown),
      )
  }

  function receive(message: DevMessage): void {
    switch (message.type) {
      case 'hello':
        if ((state.session !== '' && state.session !== message.session) || state.build < message.build)
          location.reload()
        state.session = message.session
        state.build = message.build
        break
      case 'built':
        // A failed page contains nothing to refresh.
        if (document.documentElement.hasAttribute('data-millrace-failed')) location.reload()
        else if (overlay.has('server')) refetch()
        overlay.clear('build', 'server')
        state.build = message.build
        break
      case 'update':
        // Sources that compile are told before the build is over.
        overlay.clear('build')
        swapStylesheets(document, message.styles, String(Date.now()))
        if (message.modules.length > 0) update(message.modules)
        break
      case 'refresh':
        overlay.clear('server')
        refetch()
        break
      case 'reload':
        location.reload()
        break
      case 'failure':
        overlay.show(message.failure)
        break
    }
  }

  events.addEventListener('message', ({ data }: MessageEvent<string>) => receive(JSON.parse(data) as DevMessage))
  addEventListener('error', ({ error }) => error !== null && onThrown(error))
  addEventListener('unhandledrejection', ({ reason }) => onThrown(reason))
  onCaughtError(globalThis as ReportingPage, onThrown)
  // Firefox logs an event stream that a navigation cuts as an error on the console.
  addEventListener('pagehide', () => events.close())
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
}

/** Infinite if the browser does not tell: such a page never counts as outdated. */
function documentBuild(): number {
  const [navigation] = performance.getEntriesByType('navigation')
  const timing = navigation instanceof PerformanceNavigationTiming ? navigation.serverTiming : []
  return Number(timing.find(({ name }) => name === DEV_BUILD_TIMING)?.description ?? Infinity)
}

/**
 * Listens to errors that an error page has replaced, because React does not report those to the window. Development
 * pages have no error reports, so their hook is free.
 */
function onCaughtError(page: ReportingPage, hear: (thrown: unknown) => void): void {
  const nowhere: PageReports['settings'] = { dsn: '', tunnel: '', sdk: '', release: '', environment: '', rate: 0 }
  page.millraceReports ??= {
    settings: nowhere,
    kept: [],
    add({ kind, thrown }) {
      // The window reports everything else.
      if (kind === 'caught') hear(thrown)
      if (kind === 'recoverable') observer.recovered(thrown instanceof Error ? thrown.message : String(thrown))
    },
    allow: () => undefined,
  }
}
