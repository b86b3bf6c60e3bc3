/** What a measurement must reach. */
export interface Gate {
  readonly bound: '≥' | '≤' | '<'
  readonly limit: number
}

/** What a value counts. */
type Unit =
  | '×'
  | '%'
  | 'B'
  | 'B/request'
  | '/request'
  | 'B/navigation'
  | '/navigation'
  | 'requests'
  | 'renders'
  | 'per page'
  | '/s'
  | 'ms'

/** One line of the report. */
export interface Measurement {
  /** What was measured. */
  readonly name: string
  readonly value: number
  /**
   * `×` is a ratio against the bare server, or the bare page, of the same run, and `%` a share of something else in it; the
   * others are what they say.
   */
  readonly unit: Unit
  /** What it was made of: absolute figures of this machine, number of rounds, spread. */
  readonly detail: string
  readonly gate?: Gate
}

/** Whether a measurement holds its gate; one without a gate does. */
export function holds({ value, gate }: Measurement): boolean {
  if (gate === undefined) return true
  if (gate.bound === '≥') return value >= gate.limit
  return gate.bound === '≤' ? value <= gate.limit : value < gate.limit
}

function formatted(value: number, unit: Measurement['unit']): string {
  switch (unit) {
    case '×':
      return value.toFixed(2)
    case 'B':
      return `${Math.round(value).toLocaleString('en')} B`
    case 'B/request':
    case 'B/navigation':
      return `${value.toFixed(1)} ${unit}`
    case '/request':
    case '/navigation':
      return `${value.toFixed(5)}${unit}`
    case '%':
      return `${value.toFixed(1)} %`
    case '/s':
      return `${Math.round(value).toLocaleString('en')}/s`
    case 'requests':
    case 'renders':
    case 'per page':
      return `${value} ${unit}`
    case 'ms':
      return `${value.toFixed(0)} ms`
  }
}

function gateText({ gate, unit }: Measurement): string {
  return gate === undefined ? '' : `${gate.bound} ${gate.limit.toLocaleString('en')}${unit === '×' ? '' : ` ${unit}`}`
}

/** One line for a terminal. */
export function toLine(measurement: Measurement): string {
  const verdict = measurement.gate === undefined ? '    ' : holds(measurement) ? 'pass' : 'FAIL'
  const value = formatted(measurement.value, measurement.unit).padStart(18)
  return `${verdict}  ${measurement.name.padEnd(38)}${value}  ${gateText(measurement).padEnd(18)}  ${measurement.detail}`
}

/** The table of docs/performance.md. */
export function toMarkdown(measurements: readonly Measurement[]): string {
  const rows = measurements.map((measurement) => {
    const { name, value, unit, detail } = measurement
    return `| ${name} | ${formatted(value, unit)} | ${gateText(measurement)} | ${detail} |`
  })
  return ['| measured | value | gate | made of |', '|---|---:|---|---|', ...rows].join('\n')
}
