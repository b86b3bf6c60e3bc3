/**
 * What the compiler knows of the application's route table. Only the table's keys are read here, and never its modules:
 * their types depend on these, and the compiler would go in a circle.
 */
import type { Register } from './register.ts'

/** Whether the application has registered its table. */
export type IsRegistered = 'routes' extends keyof Register ? true : false

type Table = Register extends { readonly routes: infer Routes } ? Routes : Readonly<Record<string, object>>

/** A key of the table, groups included. */
export type TableKey = keyof Table & string

/** The pattern of an entry, without groups: what layouts and loaders are typed by. */
export type EntryPattern = string extends TableKey ? string : Patterns[TableKey]

/** The pattern of an entry that has a page or a handler, without groups: what links lead to. */
export type RoutePattern = string extends TableKey ? string : Patterns[RouteKey]

/** The pattern of each key, without groups. */
// A mapped type, because the compiler keeps its members: a table may have a thousand.
export type Patterns = { [Key in TableKey]: OrRoot<Key extends `${string}/(${string}` ? WithoutGroups<Key> : Key> }

type RouteKey = {
  [Key in TableKey]: Table[Key] extends { readonly page: unknown } | { readonly handler: unknown } ? Key : never
}[TableKey]

type OrRoot<Pattern extends string> = Pattern extends '' ? '/' : Pattern

type WithoutGroups<Key extends string> = Key extends `${infer Before}/(${infer Name})${infer After}`
  ? After extends '' | `/${string}`
    ? `${Before}${WithoutGroups<After>}`
    : `${Before}/(${Name})${WithoutGroups<After>}`
  : Key
