import { isJsonValue } from '../../shared/protocol/hydration-data.ts'
import { parsePublicEnv, type WithPublic } from '../../shared/public-env.ts'
import { checkValue, issuePath, type Schema, type SchemaOutput } from '../../shared/schema.ts'
import { ConfigError } from '../config/config.ts'

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

const BIND = Symbol('millrace.env')

/** Options of `defineEnv`. */
export interface EnvOptions<Name extends string> {
  /**
   * Names of variables that browsers may see: `publicEnv` of `millrace` gives their values on both sides, and each document
   * contains them. They are read when the server starts, so that one build serves several environments. Their values must be
   * what JSON can represent. Default: none.
   */
  readonly public?: readonly Name[] | undefined
}

/**
 * The application's own variables, typed.
 * @typeParam Public the names that browsers may see.
 */
export type Env<Values extends object, Public extends string = never> = Readonly<Values> & {
  /** Reads this environment from now on, and gives the public values. Called by the runtime. */
  readonly [BIND]: (environment: Environment) => object | undefined
} & WithPublic<Pick<Values, Public & keyof Values>>

/**
 * Declares the environment of an application. Give it to `defineApp` as `env`: the server then checks it before it accepts
 * visitors, and names every variable that does not fit, never its value.
 *
 * Nothing is read before the first access or the start, so that a build needs no environment.
 * @param schema of the variables by their names, such as `z.object({ SMTP_URL: z.url() })`. Unset variables are absent, and
 * empty ones count as unset. It must be synchronous.
 * @param options names what browsers may see.
 * @returns its output, read on first access from the server's environment.
 * @throws {ConfigError} on access, for an environment that does not fit.
 * @example
 * ```ts
 * import { defineEnv } from 'millrace/server'
 * import { z } from 'zod'
 *
 * export const env = defineEnv(z.object({ SMTP_URL: z.url(), MAP_URL: z.url() }), { public: ['MAP_URL'] })
 * ```
 */
export function defineEnv<
  const Own extends Schema<object>,
  const Name extends keyof SchemaOutput<Own> & string = never,
>(schema: Own, { public: names = [] }: EnvOptions<Name> = {}): Env<SchemaOutput<Own> & object, Name> {
  let environment: Environment = process.env
  let values: object | undefined
  const read = (): object => (values ??= readEnvironment(schema, environment))
  const bind = (given: Environment): object | undefined => {
    environment = given
    values = readEnvironment(schema, given)
    return names.length === 0 ? undefined : publicValues(values, names)
  }
  return new Proxy(
    {},
    {
      get: (_, name) => (name === BIND ? bind : Reflect.get(read(), name)),
      has: (_, name) => Reflect.has(read(), name),
      ownKeys: () => Reflect.ownKeys(read()),
      getOwnPropertyDescriptor(_, name) {
        const found = Reflect.getOwnPropertyDescriptor(read(), name)
        // The target has none, so it must not claim to be fixed.
        return found && { ...found, writable: false, configurable: true }
      },
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
    },
  ) as Env<SchemaOutput<Own> & object, Name>
}

/**
 * Checks the environment of an application, and lets it read this one.
 * @returns the values that browsers may see; `undefined` if there are none.
 * @throws {ConfigError} in one line that names every variable that does not fit.
 */
export function bindEnv(env: Env<object>, environment: Environment): object | undefined {
  return env[BIND](environment)
}

/** Both sides have a copy of what JSON makes of them. */
function publicValues(values: object, names: readonly string[]): object {
  const picked = names.map((name) => [name, memberOf(values, name)] as const)
  const unset = picked.filter(([, value]) => value === undefined).map(([name]) => name)
  const [first, ...others] = unset
  if (first !== undefined) {
    throw new ConfigError(
      first,
      ['is not set, and browsers need it', ...others.map((name) => `${name}: too`)].join('; '),
    )
  }
  const odd = picked.find(([, value]) => !isJsonValue(value))
  if (odd !== undefined) throw new ConfigError(odd[0], 'browsers need it, and JSON cannot represent its value')
  return parsePublicEnv(JSON.stringify(Object.fromEntries(picked)))
}

/** Not what every object has, such as `__proto__` and `constructor`. */
function memberOf(values: object, name: string): unknown {
  return name in Object.prototype && !Object.hasOwn(values, name) ? undefined : Reflect.get(values, name)
}

function readEnvironment(schema: Schema, environment: Environment): object {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  const checked = checkValue(schema, given)
  if (checked instanceof Promise) throw new TypeError('defineEnv: the schema must not be asynchronous')
  if (checked.issues === undefined) return checked.value as object
  const faults = new Map<string, string>()
  for (const issue of checked.issues) {
    const name = String(issuePath(issue)[0] ?? 'environment')
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (!faults.has(name)) faults.set(name, value === undefined ? 'is not set' : withoutValue(issue.message, value))
  }
  const [[first = 'environment', fault = ''] = [], ...others] = faults
  throw new ConfigError(first, [fault, ...others.map(([name, other]) => `${name}: ${other}`)].join('; '))
}

const LEAST_SECRET = 3 // characters; shorter values are in words too

/** Some libraries repeat the value in their messages, quoted or as it is. */
function withoutValue(message: string, value: string): string {
  if (value.length < LEAST_SECRET) return message
  return message.replaceAll(JSON.stringify(value), '…').replaceAll(value, '…')
}
