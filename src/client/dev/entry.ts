/**
 * The development server's part in a page: refreshes changed modules, shows failures, and has a panel that shows the
 * client router's work. It is loaded before the application's own entry, and is not part of a production build.
 */
import { basePath } from '../../shared/base-path.ts'
import { observePage } from '../inspect/observe-page.ts'
import { DEV_BUILD_TIMING, DEV_EVENTS_PATH, type DevMessage, type RenewedModule } from './dev-messages.ts'
import { explain, openInEditor } from './dev-requests.ts'
import { findInsight } from './find-insight.ts'
import { createOverlay } from './overlay.ts'
import { createNotices } from './notices.ts'
import { checkPage } from './page-checks.ts'
import { watchFailures } from './page-failures.ts'
import { createPanelSetting } from './panel-setting.ts'
import { createPanel } from './panel.ts'
import { createPageReload } from './page-reload.ts'
import { createRefetch, type Refetch } from './refetch.ts'
import { createRequestFailures } from './request-failures.ts'
import { installRefresh, type Refresh } from './refresh.ts'
import { swapStylesheets } from './stylesheets.ts'

const { found, reload, reloadOnceServed, built } = createPageReload(window)
const page = createRefetch(reload)
const observer = observePage(window)
const overlay = createOverlay(document, openInEditor)
const failures = createRequestFailures(overlay.show)
const notices = createNotices(document, openInEditor)
const checks = checkPage(window, notices)
connect(
  new EventSource(basePath() + DEV_EVENTS_PATH),
  installRefresh(window, (url) => import(url)),
  page,
)
const panel = createPanel(window, createPanelSetting(window), observer)
findInsight(window, (insight, router) => {
  found(router)
  page.found(insight)
  failures.found(insight, router)
  observer.watchCache(insight.known, insight.subscribe)
  observer.watchCalls(router)
  checks.found(insight, router)
  panel.inspect(insight)
})

function connect(events: EventSource, refresh: Refresh, { refetch, recover }: Refetch): void {
  const state = { ...documentBuild(), updates: Promise.resolve() }
  const onThrown = watchFailures(window, {
    failed: (complaint) => void explain(complaint).then(overlay.show, gone),
    recovered: (message) => observer.recovered(message),
    warned: (complaint) => void notices.report(complaint).catch(gone),
  })

  function update(modules: readonly RenewedModule[]): void {
    state.updates = state.updates
      .then(() => refresh.apply(modules))
      .then(
        () => {
          overlay.clear('browser')
          recover()
          notices.refreshed(modules.map(({ key }) => key))
          checks.check()
        },
        (thrown: unknown) => onThrown(thrown),
      )
  }

  /** If code fails again, this is reported again. */
  function refetchPage(): void {
    if (refetch()) overlay.clear('browser')
  }

  function receive(message: DevMessage): void {
    switch (message.type) {
      case 'hello':
        if ((state.session !== '' && state.session !== message.session) || state.build < message.build) {
          void reloadOnceServed()
          break
        }
        state.session = message.session
        state.build = message.build
        break
      case 'versions':
        overlay.setVersions(message.versions)
        break
      case 'built':
        // A failed page contains nothing to refresh.
        if (document.documentElement.hasAttribute('data-millrace-failed')) void reloadOnceServed()
        else if (overlay.has('server')) refetchPage()
        overlay.clear('build', 'server')
        failures.changed()
        notices.set('requests', [])
        state.build = message.build
        built()
        break
      case 'update':
        // Sources that compile are reported before the build is over.
        overlay.clear('build')
        swapStylesheets(document, message.styles, String(Date.now()))
        if (message.modules.length > 0) update(message.modules)
        break
      case 'refresh':
        overlay.clear('server')
        failures.changed()
        refetchPage()
        break
      case 'reload':
        void reloadOnceServed()
        break
      case 'failure':
        if (message.isFirst === true) overlay.clear('build')
        failures.add(message.failure)
        if (message.failure.request !== undefined) observer.answered(message.failure.request)
        break
      case 'warnings':
        notices.set('build', message.warnings)
        break
      case 'warning':
        notices.add('requests', message.warning)
        break
    }
  }

  events.addEventListener('message', ({ data }: MessageEvent<string>) => receive(JSON.parse(data) as DevMessage))
  // Firefox logs an event stream that a navigation cuts as an error on the console.
  addEventListener('pagehide', () => events.close())
  addEventListener('pageshow', ({ persisted }) => persisted && reload())
}

/** The build is infinite if the browser does not tell: such a page never counts as outdated. */
function documentBuild(): { session: string; build: number } {
  const [navigation] = performance.getEntriesByType('navigation')
  const timing = navigation instanceof PerformanceNavigationTiming ? navigation.serverTiming : []
  const told = timing.find(({ name }) => name === DEV_BUILD_TIMING)?.description ?? ''
  const [build = '', session = ''] = told.split(' ')
  return { session, build: build === '' ? Infinity : Number(build) }
}

/** The development server is gone, and with it the reader of its failures. */
function gone(): void {
  // The event stream connects again by itself.
}
