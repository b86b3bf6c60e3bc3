/** Cost of an input. */
export interface InputCost {
  readonly name: string
  readonly coding?: string | undefined
  /** Bytes on the wire, including request line and headers. */
  readonly bytes: number
  /** Milliseconds of processor time beyond those of a minimal request. */
  readonly milliseconds: number
  readonly status: number
}

/** Milliseconds per KiB on the wire. */
export function perKib({ milliseconds, bytes }: Pick<InputCost, 'milliseconds' | 'bytes'>): number {
  return milliseconds / (bytes / 1_024)
}

/** The median, or the lower of the two in the middle. */
export function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)] ?? 0
}

/** The most expensive inputs per byte, each only in its most expensive coding. */
export function costliest(costs: readonly InputCost[], most: number): readonly InputCost[] {
  const byName = new Map<string, InputCost>()
  for (const cost of costs) {
    const known = byName.get(cost.name)
    if (known === undefined || perKib(cost) > perKib(known)) byName.set(cost.name, cost)
  }
  return [...byName.values()].toSorted((one, other) => perKib(other) - perKib(one)).slice(0, most)
}

/** A table for people. */
export function costTable(costs: readonly InputCost[]): string {
  const rows = costs.map(({ name, coding = '-', ...cost }) => [
    perKib(cost).toFixed(2),
    cost.milliseconds.toFixed(1),
    String(cost.bytes),
    String(cost.status),
    coding,
    name,
  ])
  const all = [['ms/KiB', 'ms', 'bytes', 'status', 'coding', 'input'], ...rows]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) => row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')).join('\n')
}
