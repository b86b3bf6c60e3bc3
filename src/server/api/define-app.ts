import type { Env } from './define-env.ts'
import type { ComponentType } from 'react'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { DocumentProps } from '../../client/module-types.ts'
import type { RouteDefinitions } from '../../shared/route-definition.ts'
import type { RuleSet } from '../../shared/rules/rule-types.ts'
import type { TextsOf } from '../../shared/texts.ts'
import type { CheckedRoutes } from './route-drift.ts'
import type { RateLimit } from '../stores/rate-cells.ts'

/** Argument of an application's `start`. */
export interface AppStart {
  readonly log: Logger
  /** Absolute path of the folder for embedded stores. */
  readonly dataDir: string
  /** Number of this process, counted from 1 and never reused; `undefined` if there is only one process. */
  readonly worker: number | undefined
  /** Aborted when the process starts to end: for endless work. Answers may still be in progress. */
  readonly signal: AbortSignal
  /**
   * Drops cached values by tags or paths, as `context.revalidate`, for jobs: in all processes and instances, and in
   * browsers that listen to an event stream with these targets.
   */
  revalidate(...targets: readonly string[]): Promise<void>
}

/** Ends what the application's `start` has started. */
export type AppStop = () => void | Promise<void>

/** Error reports of an application. */
export interface ReportOptions {
  /**
   * `ask`: nothing is loaded or sent before the page has called `allowReports`; earlier failures wait in the page.
   * Default: reports are sent.
   */
  readonly consent?: 'ask' | undefined
  /**
   * Origins of services that continue the trace when this server sends them requests: `https://api.example.com`. They
   * receive `sentry-trace` and `baggage`. Default: none.
   */
  readonly traceOrigins?: readonly string[] | undefined
}

/**
 * Definition of an application.
 * @typeParam Routes the type of its table.
 */
export interface AppDefinition<Routes = RouteDefinitions> {
  /** The table from `defineRoutes`. */
  readonly routes: Routes
  /** Renders `<html>` around everything. The browser's entry gets the same component. */
  readonly document: ComponentType<DocumentProps>
  /** Redirects, rewrites and headers in the format of Next.js. */
  readonly rules?: RuleSet | undefined
  /** Express middleware of the application; runs after host and URL have been checked, before rules and pages. */
  readonly middleware?: readonly RequestHandler[] | undefined
  /**
   * Runs once in each serving process, before it accepts visitors. If it throws, the start fails. The function that it
   * returns runs after the last answer, within `SHUTDOWN_GRACE_MS`. The build does not run it.
   */
  readonly start?: ((server: AppStart) => AppStop | void | Promise<AppStop | void>) | undefined
  /** The application's own variables, from `defineEnv`: checked before visitors are accepted. */
  readonly env?: Env<object> | undefined
  /** How long browsers keep the data of loaders that do not set `cache({ lifetime })`. Default: 60 seconds. */
  readonly dataLifetime?: DataLifetime | undefined
  /**
   * Millrace's own texts in the language of a page: pages without React, errors of files, hints without JavaScript.
   * Called when such a text is needed. Texts that it does not return are English. The browser gets its own by `hydrate({ texts })`.
   */
  readonly texts?: TextsOf | undefined
  /**
   * Error reports. `false`: the build has no recorder and no SDK, and the server has no relay, inbox and spool; failures
   * are in the log alone. The server then refuses `SENTRY_DSN`.
   */
  readonly reports?: false | ReportOptions | undefined
  /** Security features of browsers beyond the defaults. */
  readonly security?:
    | {
        /**
         * Scripts whose content browsers verify against the build. `page`, the default: those that a document names, about
         * 60 bytes each. `all`: also those that are loaded later, by an import map with every script of the build in each
         * document, about 90 bytes each; for sites whose files are hosted elsewhere.
         */
        readonly integrity?: 'page' | 'all' | undefined
        /**
         * Whether browsers that know Trusted Types refuse plain strings where the DOM would run them. The runtime assigns
         * none. `dangerouslySetInnerHTML` then needs a `TrustedHTML` if React writes it in the browser.
         */
        readonly trustedTypes?: boolean | undefined
        /**
         * Other origins to which a page's forms may lead: `https://login.example.com`. Browsers check redirects too, so an
         * action that redirects to another site without JavaScript needs that site here. Default: none.
         */
        readonly formTargets?: readonly string[] | undefined
        /**
         * Sources outside the site from which documents may load, by CSP directive: `{ 'img-src':
         * ['https://images.example.com'] }`. An origin, one with `*.` before its host, or `blob:` and `data:` (not for
         * scripts). Default: none.
         */
        readonly sources?: PolicySources | undefined
        /**
         * How often one client may call actions and request route data, counted across all instances that share a store;
         * further requests get 429 with `Retry-After`. Default: no limit, because whole offices and villages share an
         * address.
         */
        readonly limits?: VisitorLimits | undefined
      }
    | undefined
}

/**
 * Defines the application: the default export of its `app.ts`. Checked by the build and by `createApp`. The compiler checks
 * that the modules of the table fit their entries: that a page has the loader and the params that it says, for example.
 * @example
 * ```ts
 * // src/app/app.ts
 * import { defineApp } from 'millrace/server'
 *
 * export default defineApp({ routes, document: Document })
 * ```
 */
export function defineApp<Routes extends RouteDefinitions>(app: AppDefinition<CheckedRoutes<Routes>>): AppDefinition {
  return app as AppDefinition
}

/** Seconds for which browsers treat data as fresh; with 0 each navigation loads it again. */
export interface DataLifetime {
  /** Seconds for which data is fresh. Default: 60. */
  readonly seconds?: number | undefined
  /** For loaders that open a session. Default: `seconds`. */
  readonly session?: number | undefined
}

/** Limits per client, by kind of request. A client is one IPv4 address, or one IPv6 network of 64 bits. */
export interface VisitorLimits {
  /** Calls of actions, with and without JavaScript together. */
  readonly actions?: RateLimit | undefined
  /** Route data, prefetches included. */
  readonly data?: RateLimit | undefined
}

/**
 * Sources by directive: origins, with `*.` before the host for its subdomains, or schemes such as `blob:`. For `script-src`,
 * hashes of inline scripts too: `'sha256-…'`.
 */
export type PolicySources = Readonly<Partial<Record<SourceDirective, readonly string[]>>>

/** CSP directives for which an application may allow sources beyond the site. */
type SourceDirective =
  'connect-src' | 'font-src' | 'frame-src' | 'img-src' | 'media-src' | 'script-src' | 'style-src' | 'worker-src'
