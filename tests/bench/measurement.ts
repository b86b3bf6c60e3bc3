/** What a measurement must reach. */
export interface Gate {
  readonly bound: '≥' | '≤' | '<'
  readonly limit: number
}

/** One line of the report. */
export interface Measurement {
  /** What was measured. */
  readonly name: string
  readonly value: number
  /** `×` is a ratio against the bare server of the same run; the others are what they say. */
  readonly unit: '×' | 'B' | 'B/request' | '/request' | 'ms'
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
      return `${value.toFixed(1)} B/request`
    case '/request':
      return `${value.toFixed(5)}/request`
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
  const value = formatted(measurement.value, measurement.unit).padStart(16)
  return `${verdict}  ${measurement.name.padEnd(34)}${value}  ${gateText(measurement).padEnd(16)}  ${measurement.detail}`
}

/** The table of the README. */
export function toMarkdown(measurements: readonly Measurement[]): string {
  const rows = measurements.map((measurement) => {
    const { name, value, unit, detail } = measurement
    return `| ${name} | ${formatted(value, unit)} | ${gateText(measurement)} | ${detail} |`
  })
  return ['| measured | value | gate | made of |', '|---|---:|---|---|', ...rows].join('\n')
}
