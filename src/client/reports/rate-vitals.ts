import { spanToJSON, type Span } from '@sentry/react'
import { isVitalName, rateVital } from '../../shared/reports/vital-rating.ts'

interface Measured {
  readonly measurements?: Readonly<Record<string, { readonly value: number }>>
  readonly contexts?: { readonly trace?: { readonly op?: string | undefined; data?: Record<string, unknown> } }
}

const VITAL_VALUE = /^browser\.web_vital\.([a-z]+)\.value$/

/**
 * Adds the ratings of its web vitals to a page load. A painted page without layout shifts has a CLS of 0, which the SDK
 * omits: then only pages with shifts would be counted.
 * @param tellsShifts whether the browser reports layout shifts at all.
 */
export function rateTransaction<Transaction extends Measured>(
  transaction: Transaction,
  tellsShifts: boolean,
): Transaction {
  const trace = transaction.contexts?.trace
  if (trace === undefined) return transaction
  const { measurements } = transaction
  if (tellsShifts && trace.op === 'pageload' && measurements?.['fcp']) {
    Object.assign(transaction, { measurements: { cls: { value: 0, unit: '' }, ...measurements } })
  }
  for (const [name, { value }] of Object.entries(transaction.measurements ?? {})) {
    if (isVitalName(name)) (trace.data ??= {})[attributeOf(name)] = rateVital(name, value)
  }
  return transaction
}

/** Adds the rating to the span of a web vital that is sent alone, such as that of an interaction. */
export function rateSpan(span: Span): void {
  for (const [attribute, value] of Object.entries(spanToJSON(span).attributes ?? {})) {
    const name = VITAL_VALUE.exec(attribute)?.[1] ?? ''
    if (isVitalName(name) && typeof value === 'number') span.setAttribute(attributeOf(name), rateVital(name, value))
  }
}

function attributeOf(name: string): string {
  return `browser.web_vital.${name}.rating`
}
