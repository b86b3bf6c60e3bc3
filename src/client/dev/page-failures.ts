import { captureOwnerStack } from 'react'
import type { PageReports, ReportingPage } from '../reports/page-reports.ts'
import { reactComplaint } from './console-text.ts'
import type { PageComplaint } from './dev-messages.ts'

/** Receives what goes wrong in the page. */
interface FailureListener {
  failed(complaint: PageComplaint): void
  warned(complaint: PageComplaint): void
  /** React has rendered a part of the page again, in the browser. */
  recovered(message: string): void
}

/**
 * Listens to errors of the page and to React's complaints on the console.
 * @returns passes on an error from elsewhere.
 */
export function watchFailures(
  window: Window & typeof globalThis,
  listener: FailureListener,
): (thrown: unknown) => void {
  const seen = new WeakSet<object>()
  const components = new WeakMap<object, string>()
  const state = { brokenMarkup: false }

  function onThrown(thrown: unknown): void {
    if (typeof thrown === 'object' && thrown !== null) {
      // A digest means that the server has failed, and it reports more than this copy in the browser.
      if ('digest' in thrown || seen.has(thrown)) return
      seen.add(thrown)
    }
    const complaint = complaintOf(thrown)
    // React builds the page again because of markup that it has already named.
    if (state.brokenMarkup && /hydrat/i.test(complaint.message)) return
    // The components around a mismatch are those that React builds again: seldom the one that differs, which it names.
    const stack = complaint.message.startsWith('Hydration failed') ? undefined : stackOfComponents(thrown)
    listener.failed(stack === undefined ? complaint : { ...complaint, components: stack })
  }

  function stackOfComponents(thrown: unknown): string | undefined {
    return typeof thrown === 'object' && thrown !== null ? components.get(thrown) : undefined
  }

  window.addEventListener('error', ({ error }) => error !== null && onThrown(error))
  window.addEventListener('unhandledrejection', ({ reason }) => onThrown(reason))
  hearReports(window as ReportingPage, ({ kind, thrown, stack }) => {
    if (typeof thrown === 'object' && thrown !== null && stack) components.set(thrown, stack)
    if (kind === 'recoverable') listener.recovered(thrown instanceof Error ? thrown.message : String(thrown))
    // React does not report to the window what an error page has replaced.
    if (kind === 'caught') onThrown(thrown)
  })
  hearConsole(window.console, (args) => {
    const complaint = reactComplaint(args)
    if (complaint === undefined) return
    const { kind, text } = complaint
    const stack = captureOwnerStack() ?? ''
    if (kind === 'warning') return listener.warned({ message: text, stack, warning: 'react' })
    state.brokenMarkup ||= !/hydrated but/.test(text)
    listener.failed({ message: text, stack: '', components: stack })
  })
  return onThrown
}

function complaintOf(thrown: unknown): PageComplaint {
  if (!(thrown instanceof Error)) return { message: String(thrown), stack: '' }
  const { name, message, stack = '' } = thrown
  return { type: name, message, stack }
}

/** The console shows its message first: a fault of this code must not lose it. */
function hearConsole(console: Console, hear: (args: readonly unknown[]) => void): void {
  const show = console.error
  console.error = function (...args: unknown[]) {
    show.apply(console, args)
    try {
      hear(args)
    } catch {
      // An argument that cannot be read.
    }
  }
}

/** Development pages have no error reports, so their hook is free. */
function hearReports(page: ReportingPage, hear: PageReports['add']): void {
  const nowhere: PageReports['settings'] = { dsn: '', tunnel: '', sdk: '', release: '', environment: '', rate: 0 }
  page.millraceReports ??= { settings: nowhere, kept: [], add: hear, allow: () => undefined }
}
