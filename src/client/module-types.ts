import type { ComponentType, ReactNode } from 'react'
import type { Params } from '../shared/route-pattern.ts'
import type { SegmentDefinition } from '../shared/route-definition.ts'

/** What a segment's `*.server.ts` may export; here only what its page and layout need to know of it. */
export interface ServerModuleShape {
  loader?: (...args: never[]) => unknown
  /** A zod schema (any Standard Schema with zod's `_output` type works) for the search params. */
  search?: { readonly _output: unknown }
}

/** What a loader of this server module hands to its page or layout. `undefined` without a loader. */
export type LoaderData<Module extends ServerModuleShape> = Module['loader'] extends (...args: never[]) => infer Result
  ? Awaited<Result>
  : undefined

/** The search params as a page gets them: the schema's output, or the raw text (a list where a key is repeated). */
export type SearchOf<Module extends ServerModuleShape> = Module['search'] extends { readonly _output: infer Output }
  ? Output
  : Readonly<Record<string, string | string[]>>

/**
 * Props of a page.
 * @typeParam Pattern the pattern that the page has in the table, without groups; types `params`.
 * @typeParam Module `typeof import('./loader.server.ts')`; types `data` and `search`.
 */
export interface PageProps<Pattern extends string = string, Module extends ServerModuleShape = object> {
  /** Decoded once, without a prototype. */
  readonly params: Params<Pattern>
  readonly search: SearchOf<Module>
  /** What the loader returned; members that are promises stream in (`use(data.member)` inside `<Suspense>`). */
  readonly data: LoaderData<Module>
}

/** Props of a layout: those of a page, without search params (a layout outlives them), and its content. */
export interface LayoutProps<Pattern extends string = string, Module extends ServerModuleShape = object> {
  readonly params: Params<Pattern>
  readonly data: LoaderData<Module>
  readonly children: ReactNode
}

/** Props of an `error` component. */
export interface ErrorProps {
  /** Where the failure happened: decides the wording. */
  readonly origin: 'server' | 'client'
  /** Names the failure in the log and in the report; absent for a browser failure that carries none. */
  readonly digest?: string
  /**
   * What has happened. `crash`: code of the page has failed in the browser. `offline`: no answer of this site has come, or
   * not all of one; nothing has failed but the network. `server`: the server, or what stands before it, has failed or refused.
   */
  readonly reason: 'crash' | 'offline' | 'server'
  /**
   * HTTP status of the answer that was not the one asked for: 500, 503 for what is unavailable, 413 for what is too large,
   * 429 for too many. Absent where nothing was answered, and for what failed behind the shell.
   */
  readonly status?: number
  /** Tries the failed segments again. Does nothing on the server. */
  readonly retry: () => void
}

/** One page's or layout's contribution to the head; deeper segments win, field by field. */
export interface Metadata {
  /** Plain text, or the template for the titles of deeper segments: `%s` is replaced, `default` stands without one. */
  readonly title?: string | { readonly template: string; readonly default: string }
  readonly description?: string
  /** A path of this site or an absolute URL; made absolute by `ORIGIN` when that is set. */
  readonly canonical?: string
  /** `index, follow` and the like. */
  readonly robots?: string
  /** Open Graph properties, without their `og:` prefix. Paths of this site are made absolute as in `canonical`. */
  readonly openGraph?: Readonly<Record<string, string>>
  /** Any further `<meta name>`. */
  readonly meta?: Readonly<Record<string, string>>
  /** JSON-LD documents; escaped for HTML by the runtime. */
  readonly jsonLd?: readonly object[]
}

/** Metadata that depends on what the loader returned. Must not suspend: it is needed for the head. */
export type MetadataExport<Props> = Metadata | ((props: Props) => Metadata)

/** A module named by `page`. */
export interface PageModule {
  // Each page narrows its props by pattern, which a table of all of them cannot express.
  readonly default: ComponentType<never>
  readonly metadata?: MetadataExport<never>
}
/** A module named by `layout`. */
export interface LayoutModule {
  readonly default: ComponentType<never>
  readonly metadata?: MetadataExport<never>
}
/** A module named by `loading`, `notFound`, `forbidden` or `unauthorized`. */
export interface FallbackModule {
  readonly default: ComponentType
  readonly metadata?: Metadata
}
/** A module named by `error`. */
export interface ErrorModule {
  readonly default: ComponentType<ErrorProps>
  readonly metadata?: MetadataExport<Partial<Pick<ErrorProps, 'reason' | 'status'>>>
}

/** `SegmentDefinition` with its modules typed for React; server modules stay opaque in the browser. */
export interface TypedSegment extends SegmentDefinition {
  readonly layout?: () => Promise<LayoutModule>
  readonly page?: () => Promise<PageModule>
  readonly loading?: () => Promise<FallbackModule>
  readonly error?: () => Promise<ErrorModule>
  readonly notFound?: () => Promise<FallbackModule>
  readonly forbidden?: () => Promise<FallbackModule>
  readonly unauthorized?: () => Promise<FallbackModule>
}

/** Props of the application's document component, which renders `<html>`, `<head>` and `<body>`. */
export interface DocumentProps {
  /** Title, metadata, stylesheets: stands inside `<head>`. */
  readonly head: ReactNode
  /** The page in its layouts: stands inside `<body>`. */
  readonly children: ReactNode
}
