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

/** The pattern of an entry that a link may lead to, without groups. */
export type LinkPattern = string extends TableKey
  ? string
  : [UnlinkedKey] extends [never]
    ? RoutePattern
    : Exclude<RoutePattern, Patterns[UnlinkedKey]>

/** Places of the URL whose values are listed, as patterns without groups, each with the param's name and its values. */
export type ListedPlaces = {
  [Place in ListedPlace as Place extends readonly [infer Pattern extends string, ...unknown[]] ? Pattern : never]: Place
}

/** The listed places that a pattern passes. Few patterns differ in them, so the compiler keeps what follows from them. */
export type PlacesIn<Pattern extends string> = {
  [Place in keyof ListedPlaces]: Pattern extends Place | `${Place}/${string}` ? Place : never
}[keyof ListedPlaces]

/** The params that are limited at some places, with their values. */
export type ListedParams<Places extends keyof ListedPlaces> = {
  readonly [Place in Places as ListedPlaces[Place][1]]: ListedPlaces[Place][2]
}

/** What the loaders of an entry get as `variants`. A layout's loader gets those of the page, which may have none. */
export type EntryVariants<Pattern extends string> = [VariantsAt<Pattern>] extends [never]
  ? { readonly [Name in string]?: string }
  : {
      readonly [Name in keyof VariantsAt<Pattern>]?: VariantsAt<Pattern>[Name] extends (...args: never) => infer Value
        ? Value
        : never
    }

type VariantsAt<Pattern extends string> = {
  [Key in TellingKey]: Patterns[Key] extends Pattern
    ? Table[Key] extends { readonly variants: infer Functions }
      ? Functions
      : never
    : never
}[TellingKey]

// Few entries say something of their URLs: the rest of the table is gone through once.
type TellingKey = {
  [Key in TableKey]: Table[Key] extends
    { readonly params: object } | { readonly linked: false } | { readonly variants: object }
    ? Key
    : never
}[TableKey]

type UnlinkedKey = {
  [Key in TellingKey]: Table[Key] extends { readonly linked: false } ? Key : never
}[TellingKey]

type ListedPlace = {
  [Key in TellingKey]: Table[Key] extends { readonly params: infer Lists } ? PlacesOf<Patterns[Key], Lists> : never
}[TellingKey]

type PlacesOf<Pattern extends string, Lists> = {
  [Name in keyof Lists & string]: Pattern extends `${infer Before}/[${Name}]${string}`
    ? readonly [
        place: `${Before}/[${Name}]`,
        name: Name,
        value: Lists[Name] extends readonly (infer Value)[] ? Value : never,
      ]
    : never
}[keyof Lists & string]

type RouteKey = {
  [Key in TableKey]: Table[Key] extends { readonly page: unknown } | { readonly handler: unknown } ? Key : never
}[TableKey]

type OrRoot<Pattern extends string> = Pattern extends '' ? '/' : Pattern

type WithoutGroups<Key extends string> = Key extends `${infer Before}/(${infer Name})${infer After}`
  ? After extends '' | `/${string}`
    ? `${Before}${WithoutGroups<After>}`
    : `${Before}/(${Name})${WithoutGroups<After>}`
  : Key
