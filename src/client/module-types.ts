import type { ComponentType, ReactNode } from 'react'
import type { EntryPattern, RoutePattern } from '../shared/registered-table.ts'
import type { Params } from '../shared/route-pattern.ts'
import type { SchemaOutput } from '../shared/schema.ts'

/** Exports of a segment's `*.server.ts`, as far as its page and layout depend on them. */
export interface ServerModuleShape {
  loader?: (...args: never[]) => unknown
  visitor?: (...args: never[]) => unknown
  layoutVisitor?: (...args: never[]) => unknown
  /** A schema for the search params: zod's, or that of any library that implements Standard Schema. */
  search?: { readonly _output: unknown } | { readonly '~standard': object }
  /** Lists the URLs of the pattern for `millrace export`. */
  paths?: (...args: never[]) => unknown
}

/**
 * The result of this server module's loader for its page or layout. `undefined` without a loader. With `visitor`, or
 * `layoutVisitor` for a layout, it has the promise of that as `visitor`.
 */
export type LoaderData<Module extends ServerModuleShape> = OwnData<Module> & SlotOf<Module>

type OwnData<Module extends ServerModuleShape> = Module['loader'] extends (...args: never[]) => infer Result
  ? Awaited<Result>
  : Module extends { visitor: unknown } | { layoutVisitor: unknown }
    ? unknown
    : undefined

type SlotOf<Module> = Module extends { visitor: infer Visitor } | { layoutVisitor: infer Visitor }
  ? Slot<Visitor>
  : unknown

/** What belongs to the visitor: `use(data.visitor)` inside `<Suspense>`. */
interface Slot<Visitor> {
  readonly visitor: Promise<Visitor extends (...args: never[]) => infer Result ? Awaited<Result> : never>
}

/** The search params of a page: the schema's output, or the raw text (a list if a key is repeated). */
export type SearchOf<Module extends ServerModuleShape> = Module extends { search: infer Schema }
  ? SchemaOutput<Schema>
  : Readonly<Record<string, string | string[]>>

/**
 * Props of a page.
 * @typeParam Pattern the page's pattern in the table, without groups; types `params`.
 * @typeParam Module `typeof import('./loader.server.ts')`; types `data` and `search`.
 */
export interface PageProps<Pattern extends RoutePattern = never, Module extends ServerModuleShape = object> {
  /** Decoded once, without a prototype. */
  readonly params: Params<Pattern>
  /** Search params, after the `search` schema of the server module; raw text without one. */
  readonly search: SearchOf<Module>
  /** The loader's result; promises among its members stream in (`use(data.member)` inside `<Suspense>`). */
  readonly data: LoaderData<Module>
}

/** Props of a layout: those of a page, without search params (which change while a layout stays), and its content. */
export interface LayoutProps<Pattern extends EntryPattern = never, Module extends ServerModuleShape = object> {
  /** Those of its own pattern, decoded once. */
  readonly params: Params<Pattern>
  /** The result of the layout's loader. */
  readonly data: LoaderData<Module>
  /** The page, or the layout below. */
  readonly children: ReactNode
}

/** Props of an `error` component. */
export interface ErrorProps {
  /** Where the failure happened: decides the wording. */
  readonly origin: 'server' | 'client'
  /** Identifies the failure in the log and in the report; absent for browser failures without one. */
  readonly digest?: string
  /**
   * Kind of failure. `crash`: code of the page has failed in the browser. `offline`: the network has failed, and this
   * site's answer is missing or incomplete. `server`: the server, or a proxy in front of it, has failed or refused.
   */
  readonly reason: 'crash' | 'offline' | 'server'
  /**
   * HTTP status of an answer with an unexpected status: 500, 503 for unavailable, 413 for too large, 429 for too many
   * requests. Absent without an answer, and for failures after the shell.
   */
  readonly status?: number
  /** Loads the failed segments again. Does nothing on the server. */
  readonly retry: () => void
}

/** Contribution of one page or layout to the head; deeper segments override, field by field. */
export interface Metadata {
  /**
   * Plain text, or a template for the titles of deeper segments: `%s` is replaced, `default` is used if there is none.
   */
  readonly title?: string | { readonly template: string; readonly default: string } | undefined
  /** For `<meta name="description">`. */
  readonly description?: string | undefined
  /** A path of this site or an absolute URL; made absolute with `ORIGIN`, if that is set. */
  readonly canonical?: string | undefined
  /** `index, follow` and the like. */
  readonly robots?: string | undefined
  /** Open Graph properties, without their `og:` prefix. Paths of this site are made absolute as in `canonical`. */
  readonly openGraph?: Readonly<Record<string, string>> | undefined
  /** Any further `<meta name>`. */
  readonly meta?: Readonly<Record<string, string>> | undefined
  /** JSON-LD documents; escaped for HTML by the runtime. */
  readonly jsonLd?: readonly object[] | undefined
}

/** Metadata that depends on the loader's result. Must not suspend, because it is needed for the head. */
type MetadataExport<Props> = Metadata | ((props: Props) => Metadata)

/** A module named by `page`. */
export interface PageModule {
  // Each page narrows its props by pattern, which a common type cannot express.
  readonly default: ComponentType<never>
  readonly metadata?: MetadataExport<never>
}
/** A module named by `layout`. */
export interface LayoutModule {
  readonly default: ComponentType<never>
  readonly metadata?: MetadataExport<never>
}
/** What a fallback's `metadata` gets of the URL. */
interface FallbackMetadataProps {
  /** Empty if no route answers the URL. */
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>
}
/** A module named by `loading`, `notFound`, `forbidden` or `unauthorized`. */
export interface FallbackModule {
  readonly default: ComponentType
  readonly metadata?: MetadataExport<FallbackMetadataProps>
}
/** A module named by `error`. */
export interface ErrorModule {
  readonly default: ComponentType<ErrorProps>
  readonly metadata?: MetadataExport<FallbackMetadataProps & Partial<Pick<ErrorProps, 'reason' | 'status'>>>
}

/** Props of the application's document component, which renders `<html>`, `<head>` and `<body>`. */
export interface DocumentProps {
  /** Title, metadata, stylesheets: render it inside `<head>`. */
  readonly head: ReactNode
  /** The page in its layouts: render it inside `<body>`. */
  readonly children: ReactNode
}
