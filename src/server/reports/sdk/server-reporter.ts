import { ROUTE_DATA_PREFIX } from '../../../shared/protocol/route-data.ts'
import { clientKey } from '../../http/client-key.ts'
import { parseDsn } from '../../config/dsn.ts'
import { createPageDecisions } from './page-decisions.ts'
import { isServerFailure } from './is-server-failure.ts'
import { beginTrace } from '../../request/request-trace.ts'
import type { FailureFacts } from './report-client.ts'
import { ReportOutlet, type ReportOutletParts } from './report-outlet.ts'
import { createRetriedFailures } from './retried-failures.ts'
import { isTraced, transactionOf } from './request-transaction.ts'
import type { ServerReporter } from '../../request/request-reporter.ts'
import { createSharedBudget } from './shared-budget.ts'

const ERRORS_A_SECOND = 20 // per process; a storm repeats itself
const ERRORS_AT_ONCE = 100 // after quiet times
const TRANSACTIONS_A_SECOND = 20 // each has to be delivered
const TRANSACTIONS_AT_ONCE = 40
const TRANSACTION_PAUSE_MS = 250 // transactions of this time are passed on together
const LOSS_PAUSE_MS = 10_000 // losses are reported as one number

const ROUTE_DATA = new RegExp(`^${ROUTE_DATA_PREFIX}/`)

/** Facts of a failure outside of requests. */
const FATAL: FailureFacts = {
  place: 'process',
  level: 'fatal',
  tags: {},
  transaction: undefined,
  trace: undefined,
  client: undefined,
}

/** Parts of a reporter. */
export interface ServerReporterParts extends ReportOutletParts {
  /** Share of requests that are sampled: 0 to 1. */
  readonly sampleRate: number
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly now: () => number
  /** Of that clock, in milliseconds since the epoch. */
  readonly timeOrigin: number
  /** 0 to below 1. */
  readonly random: () => number
  /** Runs a function once, later, without keeping the process alive. @returns cancels it. */
  readonly after: (milliseconds: number, run: () => void) => () => void
}

/** Creates the reporter of a server. The first report, or `warm`, loads the SDK. */
export function createServerReporter(parts: ServerReporterParts): ServerReporter {
  const { now, dsn, release, environment, sampleRate, random } = parts
  const traces = { sampleRate, publicKey: parseDsn(dsn)?.publicKey ?? '', release, environment, random }
  const retried = createRetriedFailures()
  const decisions = createPageDecisions()
  const outlet = new ReportOutlet(parts)
  const admit = createReportGate(parts, outlet)
  const transactions = createTransactionBatch(parts, outlet)

  async function flush(): Promise<void> {
    transactions.send()
    await outlet.flush()
  }

  return {
    traceOf(requestId, headers, address) {
      const [trace, baggage] = [single(headers['sentry-trace']), single(headers['baggage'])]
      const mayDecide = (): boolean =>
        headers['sec-fetch-site'] === 'same-origin' && decisions.take(clientKey(address), now())
      return beginTrace({ requestId, trace, baggage, mayDecide }, traces)
    },
    failed(thrown, digest, place, { requestId, req, route, trace, clientAddress, aborted, sent }) {
      if (!isServerFailure(thrown, aborted?.cause === 'gone')) return
      const isData = req.method === 'GET' && route !== undefined && ROUTE_DATA.test(route)
      if (isData && trace !== undefined && retried.isKnown(trace.traceId, digest, now())) return
      const client = clientKey(clientAddress.address)
      if (!admit('error', client)) return
      const transaction = route === undefined ? undefined : `${req.method ?? 'GET'} ${route}`
      // Route data counts under the pattern of its page.
      const page = route?.replace(ROUTE_DATA, '/')
      const tags = {
        digest,
        request_id: requestId,
        place,
        ...(page === undefined ? {} : { route: page }),
        ...(sent === undefined ? {} : { sent_status: String(sent) }),
      }
      void outlet.capture((by) =>
        by.captureFailure(thrown, { place, level: 'error', tags, transaction, trace, client }),
      )
    },
    answered(answer) {
      if (isTraced(answer) && admit('transaction', answer.client)) transactions.add(answer)
    },
    async fatal(thrown) {
      if (!isServerFailure(thrown, false)) return
      await outlet.capture((by) => by.captureFailure(thrown, FATAL))
      await flush()
    },
    async warm() {
      await outlet.capture(() => undefined)
    },
    flush,
    dispose() {
      transactions.cancel()
      outlet.dispose()
    },
  }
}

/** Limits reports per second, and reports how many were refused. */
function createReportGate(
  { now, log }: Pick<ServerReporterParts, 'now' | 'log'>,
  outlet: ReportOutlet,
): (category: 'error' | 'transaction', client: string) => boolean {
  const budgets = {
    error: createSharedBudget(ERRORS_A_SECOND, ERRORS_AT_ONCE),
    transaction: createSharedBudget(TRANSACTIONS_A_SECOND, TRANSACTIONS_AT_ONCE),
  }
  const toldAt = { error: Number.NEGATIVE_INFINITY, transaction: Number.NEGATIVE_INFINITY }
  return (category, client) => {
    const budget = budgets[category]
    if (!budget.take(client, now())) return false
    if (now() - toldAt[category] < LOSS_PAUSE_MS) return true
    const quantity = budget.refused()
    if (quantity > 0) {
      toldAt[category] = now()
      log.warn({ category, quantity }, 'too much to report')
      void outlet.capture((by) => by.captureLoss(category, quantity))
    }
    return true
  }
}

/** Transactions that are passed on together. */
interface TransactionBatch {
  add(answer: Parameters<typeof transactionOf>[0]): void
  send(): void
  cancel(): void
}

function createTransactionBatch(
  { timeOrigin, after }: Pick<ServerReporterParts, 'timeOrigin' | 'after'>,
  outlet: ReportOutlet,
): TransactionBatch {
  const waiting: ReturnType<typeof transactionOf>[] = []
  let cancelTimer: (() => void) | undefined

  function cancel(): void {
    cancelTimer?.()
    cancelTimer = undefined
  }

  function send(): void {
    cancel()
    const batch = waiting.splice(0)
    if (batch.length === 0) return
    void outlet.capture((by) => {
      for (const transaction of batch) by.captureTransaction(transaction)
    })
  }

  return {
    add(answer) {
      // Copied now: work on behalf of the request may still change its spans.
      waiting.push(transactionOf(answer, timeOrigin))
      cancelTimer ??= after(TRANSACTION_PAUSE_MS, send)
    },
    send,
    cancel,
  }
}

/** `undefined` for a repeated header, which no SDK sends. */
function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
