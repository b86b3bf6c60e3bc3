/**
 * What the compiler says where a table and its modules do not fit each other. `defineApp` asks, because no module of the
 * table imports it: the types of modules depend on the table's keys, and a check in `defineRoutes` would be a circle. A
 * fault is a text, because the compiler prints one in the first line of its message.
 *
 * Each entry is compared once, as a whole; only one that does not fit is looked at member by member.
 */
import type { ReactNode } from 'react'
import type {
  ErrorProps,
  LayoutProps,
  Metadata,
  PageProps,
  SearchOf,
  ServerModuleShape,
} from '../../client/module-types.ts'
import type { EntryPattern, Patterns, RoutePattern } from '../../shared/registered-table.ts'
import type { Params } from '../../shared/route-pattern.ts'
import type { Schema, SchemaOutput } from '../../shared/schema.ts'
import type { GuardArgs, HandlerArgs, LoaderArgs } from './loader-types.ts'

/** The table itself if its modules fit their entries; otherwise the faults, each a text with pattern and member. */
export type CheckedRoutes<Routes> = string extends keyof Routes
  ? Routes // its keys are not known
  : [Drifts<Routes>[keyof Routes & string]] extends [never]
    ? Routes
    : Drifts<Routes>[keyof Routes & string] // spelled out: the message would show the name of a named type

type Drifts<Routes> = {
  [Key in keyof Routes & string]: Routes[Key] extends SoundEntry<PatternOf<Key>, LoaderOf<Routes[Key]>>
    ? never
    : EntryDrifts<Key, Routes[Key], PatternOf<Key>>[keyof Routes[Key] & string]
}

/** Groups have no params. Without them the type is the one that the modules use, which the compiler already knows. */
type PatternOf<Key extends string> = string extends keyof Patterns
  ? Key
  : Key extends keyof Patterns
    ? Patterns[Key]
    : Key

type LoaderOf<Entry> = Entry extends { readonly loader: () => Promise<infer Module extends ServerModuleShape> }
  ? Module
  : object
type LayoutLoaderOf<Entry> = Entry extends {
  readonly layoutLoader: () => Promise<infer Module extends ServerModuleShape>
}
  ? Module
  : object

// What modules get.

// The types that the modules themselves name: where they fit, the compiler has nothing to compare.

type PageGiven<Pattern extends string, Server extends ServerModuleShape> = Pattern extends RoutePattern
  ? PageProps<Pattern, Server>
  : Omit<PageProps<never, Server>, 'params'> & { readonly params: Params<Pattern> }

type LayoutGiven<Pattern extends string, Server extends ServerModuleShape> = Pattern extends EntryPattern
  ? LayoutProps<Pattern, Server>
  : Omit<LayoutProps<never, Server>, 'params'> & { readonly params: Params<Pattern> }

type LoaderGiven<Pattern extends string, Server extends ServerModuleShape> = Pattern extends EntryPattern
  ? LoaderArgs<Pattern, SearchOf<Server>, ParamsOf<Server, Pattern>>
  : LoaderArgs<never, SearchOf<Server>, ParamsOf<Server, Pattern>>

type ParamsOf<Server, Pattern extends string> = Server extends { readonly params: infer Schema }
  ? SchemaOutput<Schema>
  : Params<Pattern>

interface FallbackFacts extends Partial<Pick<ErrorProps, 'reason' | 'status'>> {
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>
}

interface GuardGiven<Pattern extends string> extends Omit<GuardArgs, 'params'> {
  readonly params: Params<Pattern>
}

// An entry whose modules take what they get.

interface SoundEntry<Pattern extends string, Server extends ServerModuleShape> {
  readonly page?: () => Promise<ComponentModule<PageGiven<Pattern, Server>>>
  readonly loader?: () => Promise<{
    readonly loader?: (args: LoaderGiven<Pattern, Server>) => unknown
    readonly search?: unknown
    readonly paths?: PathsOf<Pattern>
  }>
  readonly error?: () => Promise<ComponentModule<ErrorProps, FallbackFacts>>
  readonly loading?: () => Promise<ComponentModule<{}, FallbackFacts>>
  readonly notFound?: () => Promise<ComponentModule<{}, FallbackFacts>>
  readonly forbidden?: () => Promise<ComponentModule<{}, FallbackFacts>>
  readonly unauthorized?: () => Promise<ComponentModule<{}, FallbackFacts>>
  // Few entries have these. They are looked at one by one.
  readonly layout?: never
  readonly guard?: never
  readonly handler?: never
}

interface ComponentModule<Props, Facts = Props> {
  readonly default: (props: Props) => ReactNode | Promise<ReactNode>
  readonly metadata?: Metadata | ((props: Facts) => Metadata)
}

type PathsOf<Pattern extends string> = () => Listed<Params<Pattern>> | Promise<Listed<Params<Pattern>>>

type Listed<Value> = Iterable<Value> | AsyncIterable<Value>

// The culprits of an entry.

type EntryDrifts<Key extends string, Entry, Pattern extends string> = {
  [Member in keyof Entry & string]: Entry[Member] extends () => Promise<infer Module>
    ? `'${Key}' ${Member}: ${Fault<Member, Module, Entry, Pattern> & string}`
    : never
}

type Fault<Member extends string, Module, Entry, Pattern extends string> = Member extends 'page'
  ? ComponentFault<
      Module,
      PageGiven<Pattern, LoaderOf<Entry>>,
      PageGiven<Pattern, LoaderOf<Entry>>,
      DataText<'loader', Entry>
    >
  : Member extends 'layout'
    ? ComponentFault<
        Module,
        LayoutGiven<Pattern, LayoutLoaderOf<Entry>>,
        LayoutGiven<Pattern, LayoutLoaderOf<Entry>>,
        DataText<'layoutLoader', Entry>
      >
    : Member extends 'loader'
      ? LoaderFault<
          Module,
          Pattern,
          Module extends { readonly search: unknown } | { readonly paths: unknown } | { readonly visitor: unknown }
            ? PathsFault<Module, Pattern>
            : 'exports neither loader nor search'
        >
      : Member extends 'layoutLoader'
        ? LoaderFault<Module, Pattern, Module extends { readonly layoutVisitor: unknown } ? never : 'exports no loader'>
        : Member extends 'guard'
          ? Module extends { readonly guard: infer Guard } | { readonly default: infer Guard }
            ? CalleeFault<Guard, GuardGiven<Pattern>, unknown>
            : 'exports no guard'
          : Member extends 'handler'
            ? HandlerFault<Module, Pattern>
            : ComponentFault<Module, Member extends 'error' ? ErrorProps : {}, FallbackFacts>

type DataText<Loader extends string, Entry> =
  Entry extends Readonly<Record<Loader, unknown>>
    ? `takes other data than the ${Loader} of this entry returns`
    : `takes data, but this entry has no ${Loader}`

type ComponentFault<Module, Props, Facts, OtherData extends string = never> = Module extends {
  readonly default: infer Component
}
  ? [TakenBy<Component, ReactNode | Promise<ReactNode>>] extends [never]
    ? 'its default export is not a component'
    : FirstOf<
        MembersFault<TakenBy<Component, ReactNode | Promise<ReactNode>>, Props, OtherData>,
        MetadataFault<Module, Facts, OtherData>
      >
  : 'its module has no default export'

type MetadataFault<Module, Facts, OtherData extends string> = Module extends { readonly metadata: infer Written }
  ? Written extends Metadata
    ? never
    : [TakenBy<Written, Metadata>] extends [never]
      ? 'its metadata is neither an object of type Metadata nor a function that returns one'
      : Named<'its metadata', MembersFault<TakenBy<Written, Metadata>, Facts, OtherData>>
  : never

/** The first argument of a function or of a class of components; `never` for everything else. */
type TakenBy<Callee, Result> = Callee extends (taken: infer Taken) => Result
  ? Taken
  : Callee extends new (taken: infer Taken, ...more: never) => { render(): ReactNode }
    ? Taken
    : never

type FirstOf<One, Other> = [One] extends [never] ? Other : One

type Named<Name extends string, Text> = Text extends string ? `${Name} ${Text}` : never

type LoaderFault<Module, Pattern extends string, Missing> = Module extends { readonly loader: infer Loader }
  ? Module extends ServerModuleShape
    ? FirstOf<CalleeFault<Loader, LoaderGiven<Pattern, Module>, unknown>, PathsFault<Module, Pattern>>
    : 'its loader is not a function, or its search is not a schema'
  : Missing

type PathsFault<Module, Pattern extends string> = Module extends { readonly paths: infer Paths }
  ? Paths extends PathsOf<Pattern>
    ? never
    : 'its paths() gives no list of the params of its pattern'
  : never

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

type HandlerFault<Module, Pattern extends string> = [keyof Module & Uppercase<string>] extends [never]
  ? 'exports no method, such as GET'
  : {
      [Name in keyof Module & Method]: Named<
        Name,
        CalleeFault<
          Module[Name],
          HandlerArgs<never, BodyOf<Module, Name>, SearchOf<Module & {}>, ParamsOf<Module, Pattern>>,
          Response | Promise<Response>
        >
      >
    }[keyof Module & Method]

/** Methods with and without a body may share a type of arguments if the module has one schema. */
type BodyOf<Module, Name> = Module extends { readonly body: infer Body }
  ? Body extends Schema
    ? SchemaOutput<Body>
    : Name extends keyof Body
      ? SchemaOutput<Body[Name]>
      : undefined
  : undefined

type CalleeFault<Callee, Args, Result> = Callee extends (args: Args) => Result
  ? never
  : Callee extends (args: infer Taken) => Result
    ? MembersFault<Taken, Args, never>
    : Callee extends (...args: never) => unknown
      ? 'does not return a Response'
      : 'is not a function'

/** Members of an argument that differ from what is given. */
type MembersFault<Taken, Given, OtherData extends string> = TextOf<
  {
    [Name in keyof Taken]-?: Name extends keyof Given
      ? [Given[Name]] extends [Taken[Name]]
        ? never
        : [Taken[Name]] extends [undefined]
          ? never // it names no server module, so it does not look at the data
          : Name extends 'search'
            ? string extends keyof Taken[Name]
              ? never // nor at these
              : Name
            : Name
      : {} extends Pick<Taken, Name>
        ? never
        : Name
  }[keyof Taken],
  OtherData
>

type TextOf<Names, OtherData extends string> = [Names] extends [never]
  ? never
  : 'params' extends Names
    ? 'takes other params than the pattern has'
    : 'data' extends Names
      ? OtherData
      : 'search' extends Names
        ? 'takes other search params than the schema of this entry gives'
        : 'body' extends Names
          ? 'takes a different body than the schema of its module gives'
          : `takes ${Names & string}, which it does not get`
