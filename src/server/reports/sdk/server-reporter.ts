import type { Logger } from 'pino'
import { isReportable } from '../../../shared/reports/is-reportable.ts'
import { ROUTE_DATA_PREFIX } from '../../../shared/protocol/route-data.ts'
import { clientKey } from '../../http/client-key.ts'
import { parseDsn } from '../../config/dsn.ts'
import type { Intake, ReportSender } from '../intake/intake.ts'
import type { ReportClient, ReportClientOptions } from './report-client.ts'
import { createPageDecisions } from './page-decisions.ts'
import { beginTrace } from '../../request/request-trace.ts'
import { createRetriedFailures } from './retried-failures.ts'
import { isTraced, transactionOf } from './request-transaction.ts'
import type { ServerReporter } from '../../request/request-reporter.ts'
import { createSharedBudget } from './shared-budget.ts'

/** Errors that one process reports in a second, and at once after quiet times. A storm says the same over and over. */
const ERRORS_A_SECOND = 20
const ERRORS_AT_ONCE = 100
/** Each takes its time until it is with the service. */
const TRANSACTIONS_A_SECOND = 20
const TRANSACTIONS_AT_ONCE = 40
const TRANSACTION_PAUSE_MS = 250 // those of this time are kept together, and delivered together
const LOSS_PAUSE_MS = 10_000 // what was too much is told in one number, not after each

/** By this name the reports of servers are kept in order; browsers are named by their addresses. */
const SERVER = 'server'
/** Transactions need no order, so they need not wait for each other's delivery. */
const TRANSACTION_SENDERS: readonly ReportSender[] = Array.from({ length: 8 }, (_, lane) => ({
  client: `server ${lane}`,
  headers: {},
}))

const ROUTE_DATA = new RegExp(`^${ROUTE_DATA_PREFIX}/`)

/** What a reporter is made with. */
export interface ServerReporterParts {
  readonly intake: Intake
  readonly dsn: string
  readonly relayPath: string
  readonly release: string
  readonly environment: string
  /** 0 to 1. */
  readonly sampleRate: number
  readonly log: Logger
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly now: () => number
  /** Of that clock, in milliseconds since the epoch. */
  readonly timeOrigin: number
  /** 0 to below 1. */
  readonly random: () => number
  /** Runs something once, later. Must not keep the process alive. @returns what takes it back. */
  readonly after: (milliseconds: number, run: () => void) => () => void
  /** Brings the code that makes events. */
  readonly loadClient?: () => Promise<(options: ReportClientOptions) => ReportClient>
}

/** Makes the reporter of a server. The SDK is loaded by the first report or by `warm`. */
export function createServerReporter({
  loadClient = importClient,
  intake,
  log,
  now,
  random,
  after,
  ...parts
}: ServerReporterParts): ServerReporter {
  const { dsn, release, environment, relayPath, sampleRate, timeOrigin } = parts
  const traces = { sampleRate, publicKey: parseDsn(dsn)?.publicKey ?? '', release, environment, random }
  const budgets = {
    error: createSharedBudget(ERRORS_A_SECOND, ERRORS_AT_ONCE),
    transaction: createSharedBudget(TRANSACTIONS_A_SECOND, TRANSACTIONS_AT_ONCE),
  }
  const retried = createRetriedFailures()
  const decisions = createPageDecisions()
  /** When losses were last told. */
  const toldAt: Partial<Record<keyof typeof budgets, number>> = {}
  let loading: Promise<ReportClient> | undefined
  /** Captures that wait for the client, and reports that are being kept. */
  const pending = new Set<Promise<void>>()
  /** Transactions that wait for others. */
  const waiting: ReturnType<typeof transactionOf>[] = []
  let cancelTelling: (() => void) | undefined
  let lane = 0

  function client(): Promise<ReportClient> {
    loading ??= loadClient().then((create) => create({ dsn, release, environment, relayPath, hand }))
    return loading
  }

  function senderOf(category: 'error' | 'transaction', client: string | undefined): ReportSender {
    if (category === 'transaction') lane = (lane + 1) % TRANSACTION_SENDERS.length
    const sender = category === 'transaction' ? TRANSACTION_SENDERS[lane] : undefined
    // Each visitor's apart: else the failures that one provokes push those of all others out of inbox and spool.
    return sender ?? { client: client === undefined ? SERVER : `${SERVER} for ${client}`, headers: {} }
  }

  function hand(envelope: Buffer, category: 'error' | 'transaction', client?: string): void {
    const kept = intake
      .take(envelope, senderOf(category, client))
      .then(() => undefined)
      .catch((error: unknown) => {
        log.warn({ err: { message: messageOf(error) } }, 'a report of this server could not be kept')
      })
      .finally(() => pending.delete(kept))
    pending.add(kept)
  }

  function through(capture: (by: ReportClient) => void): Promise<void> {
    const done = client()
      .then(capture)
      .catch((error: unknown) => {
        log.error({ err: { message: messageOf(error) } }, 'a failure could not be reported')
      })
      .finally(() => pending.delete(done))
    pending.add(done)
    return done
  }

  /** Takes one from a budget, and tells of those that found nothing there. */
  function admit(category: keyof typeof budgets, client: string): boolean {
    const budget = budgets[category]
    if (!budget.take(client, now())) return false
    if (now() - (toldAt[category] ?? Number.NEGATIVE_INFINITY) < LOSS_PAUSE_MS) return true
    const quantity = budget.refused()
    if (quantity > 0) {
      toldAt[category] = now()
      log.warn({ category, quantity }, 'too much to report')
      void through((by) => by.captureLoss(category, quantity))
    }
    return true
  }

  function tellTransactions(): void {
    cancelTelling?.()
    cancelTelling = undefined
    const told = waiting.splice(0)
    if (told.length === 0) return
    void through((by) => {
      for (const transaction of told) by.captureTransaction(transaction)
    })
  }

  async function flush(): Promise<void> {
    tellTransactions()
    await Promise.all(pending)
    if (loading !== undefined) await (await loading.catch(() => undefined))?.flush()
    await Promise.all(pending)
  }

  return {
    traceOf(requestId, headers, address) {
      const [trace, baggage] = [single(headers['sentry-trace']), single(headers['baggage'])]
      const mayDecide = (): boolean =>
        headers['sec-fetch-site'] === 'same-origin' && decisions.take(clientKey(address), now())
      return beginTrace({ requestId, trace, baggage, mayDecide }, traces)
    },
    failed(thrown, digest, place, { requestId, req, route, trace, provenance }) {
      if (!isReportable(thrown)) return
      const isData = req.method === 'GET' && route !== undefined && ROUTE_DATA.test(route)
      if (isData && trace !== undefined && retried.isKnown(trace.traceId, digest, now())) return
      const client = clientKey(provenance.address)
      if (!admit('error', client)) return
      const transaction = route === undefined ? undefined : `${req.method ?? 'GET'} ${route}`
      // Of a page's data, the pattern of the page: what a page has to do with stands under one name.
      const page = route?.replace(ROUTE_DATA, '/')
      const tags = { digest, request_id: requestId, place, ...(page === undefined ? {} : { route: page }) }
      void through((by) => by.captureFailure(thrown, { place, level: 'error', tags, transaction, trace, client }))
    },
    answered(answer) {
      if (!isTraced(answer) || !admit('transaction', answer.client)) return
      // As it is now: what was begun on its behalf may still go on.
      waiting.push(transactionOf(answer, timeOrigin))
      cancelTelling ??= after(TRANSACTION_PAUSE_MS, tellTransactions)
    },
    async fatal(thrown) {
      if (!isReportable(thrown)) return
      const facts = {
        place: 'process',
        level: 'fatal',
        tags: {},
        transaction: undefined,
        trace: undefined,
        client: undefined,
      } as const
      await through((by) => by.captureFailure(thrown, facts))
      await flush()
    },
    async warm() {
      await through(() => undefined)
    },
    flush,
    dispose() {
      cancelTelling?.()
      void loading?.then((loaded) => loaded.dispose()).catch(() => undefined)
    },
  }
}

async function importClient(): Promise<(options: ReportClientOptions) => ReportClient> {
  return (await import('./report-client.ts')).createReportClient
}

/** Twice the same header is nobody's SDK. */
function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
