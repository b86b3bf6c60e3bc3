import type { DevFailure, DevRequest, DevWarning } from '../../../src/client/dev/dev-messages.ts'
import type { DevChannel } from './dev-channel.ts'
import {
  buildWarnings,
  faultyVariableOrigin,
  startFailure,
  thrownFailure,
  type FailureFacts,
  type PageReport,
  type StartError,
  type ThrownError,
} from './dev-failures.ts'
import { createDevSources, type SourceOptions } from './dev-sources.ts'
import { createWarningPrinter } from './dev-warnings.ts'
import { createTableWarnings } from './table-warnings.ts'
import { describeSlowLoaders, drawWaterfall, slowestLoader, type LoaderRun } from './loader-waterfall.ts'
import type { ModuleServer } from '../compile/module-server.ts'
import type { NewestBuild } from '../compile/newest-build.ts'
import { describeFrames, foldStack, type RawFrame } from './stack-frames.ts'
import { createLinePrinter, errorOf, factsOf, parseLogLine, type LogLine } from './readable-log.ts'

/** Options of the reports. */
interface ReportOptions extends SourceOptions {
  print(text: string): void
}

interface Parts {
  readonly channel: Pick<DevChannel, 'requestFailed' | 'requestWarned' | 'warn'>
  readonly modules: ModuleServer
  readonly newest: Pick<NewestBuild, 'current' | 'isSource' | 'isInBrowser'>
}

/** Tells pages and the terminal of failures and warnings. */
interface DevReports {
  /** A line of the application's server. `isCurrent`: of the newest one. */
  line(text: string, isCurrent: boolean): void
  /** The server has failed outside of a request. */
  serverFailed(error: ThrownError): void
  /** The server has ended before it listened; its own message has been printed. */
  startFailed(error: StartError): void
  /** Translates an error of a page into positions in the sources; prints a warning. */
  explain(report: PageReport): DevFailure
  /** Checks what the newest build has read. */
  checkBuild(): void
}

const LOADER = /^The loader of (\S{1,500}#(?:page|layout)) returned/ // a value that would be lost
const MOST_OPEN = 100 // failed requests whose status is not known yet

export function createDevReports(options: ReportOptions, { channel, modules, newest }: Parts): DevReports {
  const { root, print } = options
  const { current, isSource } = newest
  const sources = createDevSources(options, modules, newest)
  const printer = createWarningPrinter(print)
  const tableWarnings = createTableWarnings(root)
  const failed = new Map<string, DevFailure>()
  const named = (frames: readonly RawFrame[]) => describeFrames(root, frames, isSource, sources.ownerOf)
  const lines = createLinePrinter(print, (stack) => foldStack(stack, named))

  function serverFailed(error: ThrownError, { digest, request }: FailureFacts = {}): void {
    const failure: DevFailure = {
      ...thrownFailure(root, 'server', error, {
        isSource,
        ownerOf: sources.ownerOf,
        fallback: sources.loaderFrame(request?.loader ?? LOADER.exec(error.message ?? '')?.[1]),
      }),
      ...(digest === undefined ? {} : { digest }),
      ...(request === undefined ? {} : { request }),
    }
    if (request !== undefined) failed.set(request.id, failure)
    for (const [oldest] of failed) if (failed.size > MOST_OPEN) failed.delete(oldest)
    channel.requestFailed(failure)
  }

  /** The log has the status of an answer after its failure. */
  function answered(id: string, status: number): void {
    const failure = failed.get(id)
    failed.delete(id)
    if (failure?.request === undefined) return
    const request: DevRequest = { ...failure.request, status }
    channel.requestFailed({ ...failure, request })
  }

  function slowLoaders(loaders: readonly LoaderRun[]): void {
    const frame = sources.loaderFrame(slowestLoader(loaders)?.segment)
    warnOfRequest({
      kind: 'slow',
      message: describeSlowLoaders(loaders),
      detail: drawWaterfall(loaders),
      ...(frame === undefined ? {} : { frame }),
    })
  }

  function warnOfRequest(warning: DevWarning): void {
    printer.once(warning)
    channel.requestWarned(warning)
  }

  function warnAt(frame: DevWarning['frame'], warning: Pick<DevWarning, 'kind' | 'message'>): void {
    warnOfRequest({ ...warning, ...(frame === undefined ? {} : { frame }) })
  }

  function changedValue(loader: string, changed: NonNullable<LogLine['changed']>): void {
    warnAt(sources.loaderFrame(loader), { kind: 'value', message: describeChanged(loader, changed) })
  }

  function unkept(route: string, reason: string): void {
    warnAt(sources.pageFrame(route), { kind: 'cache', message: describeUnkept(route, reason) })
  }

  return {
    serverFailed,
    startFailed: (error) => startFailed(error, serverFailed, print),
    line(text, isCurrent) {
      const line = parseLogLine(text)
      if (line === undefined) return print(text)
      const error = isCurrent ? errorOf(line) : undefined
      if (error !== undefined) serverFailed(error, factsOf(line))
      else if (line.loaders !== undefined) return slowLoaders(line.loaders)
      else if (line.changed !== undefined && line.loader !== undefined) return changedValue(line.loader, line.changed)
      else if (line.kept === false) return unkept(line.route ?? '', line.reason ?? '')
      else if (line.requestId !== undefined && line.status !== undefined)
        answered(line.requestId, line.lateStatus ?? line.status)
      lines.print(line)
    },
    explain(report) {
      const { warning: kind, route } = report
      const failure = thrownFailure(root, 'browser', report, {
        isSource: sources.isServed,
        locate: sources.locate,
        ownerOf: sources.ownerOf,
        fallback: kind === 'title' ? sources.pageFrame(route) : undefined,
      })
      if (kind === undefined) return failure
      const frame = failure.frames.find(({ own }) => own)
      printer.once({ kind, message: failure.message, ...(frame === undefined ? {} : { frame }) })
      return failure
    },
    checkBuild() {
      const now = current()
      if (now === undefined) return
      lines.forget()
      const faults = tableWarnings(now)
      printer.current(faults)
      channel.warn([...buildWarnings(root, now.warnings), ...faults])
    },
  }
}

function describeChanged(loader: string, { path, what }: NonNullable<LogLine['changed']>): string {
  const where = path === '' ? '' : ` ${path}:`
  return (
    `The loader of ${loader} returned${where} ${what}. The server renders with one value and the browser hydrates with ` +
    'another. Return plain values.'
  )
}

function describeUnkept(route: string, reason: string): string {
  return (
    `${route} says cache: 'shared', but each visitor gets a page made for it alone: ${reason}. Keep what belongs to one ` +
    "visitor out of its loaders and components, choose between a few pages with variants, or remove cache: 'shared'."
  )
}

function startFailed(error: StartError, tell: (thrown: ThrownError) => void, print: (text: string) => void): void {
  tell(startFailure(error))
  const origin = faultyVariableOrigin(error.output)
  if (origin !== '') print(origin)
}
