/**
 * `node scripts/capacity-plan.ts [--visitors n] [--seconds n] [--measure]`: the instances needed for a number of
 * simultaneous visitors, each of whom opens a page every few seconds. Prints the tables of docs/capacity.md.
 * `--measure` first measures the costs on this machine, with the build in `dist`.
 */
import { parseArgs } from 'node:util'
import { MEASURED_COSTS, REQUEST_KINDS, type Costs } from './capacity/costs.ts'
import { READERS, type Behaviour } from './capacity/demand.ts'
import { planFor } from './capacity/plan.ts'

const { values } = parseArgs({
  options: { visitors: { type: 'string' }, seconds: { type: 'string' }, measure: { type: 'boolean' } },
})

function positive(name: 'visitors' | 'seconds', fallback: number): number {
  const text = values[name]
  const number = text === undefined ? fallback : Number(text)
  if (Number.isFinite(number) && number > 0) return number
  console.error(`--${name} ${text ?? ''}: expected a number above 0, for example --${name} ${fallback}`)
  process.exit(1)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const one = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

async function costs(): Promise<Costs> {
  if (values.measure !== true) return MEASURED_COSTS
  return (await import('./capacity/measure-costs.ts')).measureCosts()
}

function report(behaviour: Behaviour, measured: Costs): string {
  const { demand, cores, instances, loads } = planFor(behaviour, measured)
  const kinds = REQUEST_KINDS.filter((kind) => kind !== 'refusal')
  return [
    `${whole.format(behaviour.visitors)} visitors, a page every ${behaviour.secondsPerPage} s: ${one.format(cores)} busy cores, ${instances} instances.`,
    table(
      ['request', 'a second', 'CPU ms each', 'cores'],
      [
        ...kinds.map((kind) => [
          kind,
          whole.format(demand[kind]),
          measured[kind].toFixed(3),
          ((demand[kind] * measured[kind]) / 1000).toFixed(2),
        ]),
        ['refusal', '', measured.refusal.toFixed(3), ''],
      ],
    ),
    table(
      ['load', 'instances', 'busy', 'p50 ms', 'p99 ms', 'refused', 'good answers a second'],
      loads.map((load) => [
        load.title,
        String(load.instances),
        `${whole.format(load.utilisation * 100)} %`,
        one.format(load.p50Ms),
        one.format(load.p99Ms),
        `${one.format(load.refused * 100)} %`,
        whole.format(load.goodput * load.instances),
      ]),
    ),
  ].join('\n\n')
}

const behaviour = {
  ...READERS,
  visitors: positive('visitors', READERS.visitors),
  secondsPerPage: positive('seconds', READERS.secondsPerPage),
}
console.log(report(behaviour, await costs()))
