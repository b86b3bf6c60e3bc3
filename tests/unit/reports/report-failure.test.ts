import { describe, expect, test } from 'vitest'
import type { BrowserClient, Scope } from '@sentry/react'
import type { FailureKind, PageFailure } from '../../../src/client/reports/page-reports.ts'
import { createFailureReporter } from '../../../src/client/reports/report-failure.ts'
import { notFound } from '../../../src/shared/control-flow.ts'

interface Reported {
  readonly level: string | undefined
  readonly handled: boolean
  readonly kind: unknown
}

function reporter() {
  const reported: Reported[] = []
  const keep = (mechanism: { handled: boolean }, scope: Scope): void => {
    const { level, tags } = scope.getScopeData()
    reported.push({ level, handled: mechanism.handled, kind: tags['failure.kind'] })
  }
  const client = {
    captureException: (_: unknown, hint: { mechanism: { handled: boolean } }, scope: Scope) =>
      keep(hint.mechanism, scope),
    captureEvent: (event: { exception: { values: { mechanism: { handled: boolean } }[] } }, _: unknown, scope: Scope) =>
      keep(event.exception.values[0]?.mechanism ?? { handled: true }, scope),
  } as unknown as BrowserClient
  const report = createFailureReporter(client, () => '/mills/[id]')
  return { reported, report: (failure: PageFailure) => report(failure) }
}

describe('a failure', () => {
  test.for<[FailureKind, string, boolean]>([
    ['error', 'error', false],
    ['rejection', 'error', false],
    ['uncaught', 'error', false],
    ['caught', 'error', true],
    ['recoverable', 'warning', true],
  ])('of kind %s is reported with level %s, handled: %s', ([kind, level, handled]) => {
    const { report, reported } = reporter()
    report({ kind, thrown: new Error('stuck') })
    expect(reported).toEqual([{ level, handled, kind }])
  })

  test('that React hands to the window, or tells twice, is reported once, as it was told first', () => {
    const { report, reported } = reporter()
    const thrown = new Error('stuck')
    for (const kind of ['uncaught', 'error', 'caught', 'recoverable'] as const) report({ kind, thrown })
    expect(reported.map(({ kind }) => kind)).toEqual(['uncaught'])
  })

  test('of control flow, or one that the server has told by its digest, is none', () => {
    const { report, reported } = reporter()
    try {
      notFound()
    } catch (thrown) {
      report({ kind: 'caught', thrown })
    }
    report({ kind: 'caught', thrown: Object.assign(new Error('told'), { digest: '0123456789ab' }) })
    expect(reported).toEqual([])
  })

  test('without an error object is told by the browser’s words', () => {
    const { report, reported } = reporter()
    report({ kind: 'error', message: 'Script error.', filename: '', lineno: 0 })
    expect(reported).toMatchObject([{ kind: 'error', handled: false }])
  })
})
