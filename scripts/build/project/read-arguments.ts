import { parseArgs } from 'node:util'
import { BuildFault } from '../build-fault.ts'

/** One option of a command. */
interface ArgumentKind {
  /** Its value in messages: `<folder>`; `''` for an option without a value. */
  readonly value: string
  /** The value of the option alone. Absent if a value has to follow. */
  readonly alone?: string
  /** Whether it may be given several times. */
  readonly multiple?: true
}

/** The values by option: a list for those that may be given several times, and `''` for a present one without a value. */
export type Arguments<Kinds extends Readonly<Record<string, ArgumentKind>>> = {
  readonly [Name in keyof Kinds]?: Kinds[Name] extends { readonly multiple: true } ? readonly string[] : string
}

/**
 * Reads the options of a command. The value of an option that also has a meaning alone follows like any other:
 * `--host 10.0.0.1` and `--host=10.0.0.1` are equal.
 * @throws {BuildFault} in one line, for an unknown argument; it names the valid options.
 */
export function readArguments<const Kinds extends Readonly<Record<string, ArgumentKind>>>(
  args: readonly string[],
  kinds: Kinds,
): Arguments<Kinds> {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, { value, multiple = false }]) => [
      name,
      { type: value === '' ? ('boolean' as const) : ('string' as const), multiple },
    ]),
  )
  try {
    const { values } = parseArgs({ args: withValues(args, kinds), options })
    const read = Object.entries(values).map(([name, value]) => [name, value === true ? '' : value])
    return Object.fromEntries(read) as Arguments<Kinds>
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const [first = ''] = reason.split(/\.?(?:\n|$)|\. /)
    throw new BuildFault(`${first}. The options are ${inWords(Object.entries(kinds).map(describe))}.`)
  }
}

/** Joins an option that may be alone to its value, which `parseArgs` does not know. */
function withValues(args: readonly string[], kinds: Readonly<Record<string, ArgumentKind>>): string[] {
  const alone = new Map(Object.entries(kinds).map(([name, kind]) => [`--${name}`, kind.alone]))
  const joined: string[] = []
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? ''
    const usual = alone.get(argument)
    const next = args[index + 1]
    const hasValue = usual !== undefined && next !== undefined && !next.startsWith('-')
    if (hasValue) index += 1
    joined.push(usual === undefined ? argument : `${argument}=${hasValue ? next : usual}`)
  }
  return joined
}

function describe([name, { value, alone }]: readonly [string, ArgumentKind]): string {
  if (value === '') return `--${name}`
  return alone === undefined ? `--${name} ${value}` : `--${name} [${value}]`
}

function inWords(options: readonly string[]): string {
  const last = options.at(-1) ?? ''
  return options.length < 2 ? last : `${options.slice(0, -1).join(', ')} and ${last}`
}
