/**
 * Configuration that browsers may see, read when the server starts. Server and browser have the same values: the server by
 * `bindPublicEnv`, the browser by a data block in the document.
 */
import type { Register } from './register.ts'

/** What JSON can represent. */
type PublicValue = string | number | boolean | null | readonly PublicValue[] | { readonly [name: string]: PublicValue }

declare const PUBLIC: unique symbol

/** Carries the type of the public values of an environment; there is no such member. */
export interface WithPublic<Values extends object> {
  readonly [PUBLIC]?: Values
}

/** The public values of the application's environment, typed once it is registered as `env`. */
export type PublicEnv = Register extends { readonly env: WithPublic<infer Values> }
  ? Readonly<Values>
  : Readonly<Record<string, PublicValue>>

/** Id of the data block, a child of the head. */
export const PUBLIC_ENV_ID = 'millrace-env'

/** Reads the values: nobody can change what all share. */
export function parsePublicEnv(json: string): object {
  return JSON.parse(json, (_, value: unknown) => Object.freeze(value)) as object
}

/** Of this process or page. Bound once at the start; where tests start several applications, those of the last. */
const bound: { values?: object | undefined } = {}

/** Sets the values of this side. */
export function bindPublicEnv(values: object | undefined): void {
  bound.values = values
}

/** The values of this side; `undefined` before they are bound. */
export function boundPublicEnv(): object | undefined {
  return bound.values
}
