import type { ComponentType } from 'react'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { DocumentProps, TypedSegment } from '../../client/module-types.ts'
import type { RuleSet } from '../../shared/rules/rule-types.ts'
import type { RateLimit } from '../stores/rate-limits.ts'

/** What an application is given when its server starts. */
export interface AppStart {
  readonly log: Logger
  /** Absolute path of the folder for embedded stores. */
  readonly dataDir: string
  /** Which of several processes this is, counted from 1 and never twice; `undefined` where there is but one. */
  readonly worker: number | undefined
  /** Aborted as soon as the process is to end: for work that has no end of its own. Answers may still be under way. */
  readonly signal: AbortSignal
}

/** Ends what an application has begun. */
export type AppStop = () => void | Promise<void>

/** An application as the server takes it. */
export interface AppDefinition {
  /** The table that `defineRoutes` made. */
  readonly routes: Readonly<Record<string, TypedSegment>>
  /** Renders `<html>` around everything. The browser's entry is given the same component. */
  readonly document: ComponentType<DocumentProps>
  /** Redirects, rewrites and headers in Next.js's shapes. */
  readonly rules?: RuleSet
  /** Express middleware of the application; runs after the URL guard and before rules and pages. */
  readonly middleware?: readonly RequestHandler[]
  /**
   * Runs once in each process that serves, before it takes visitors. What it throws ends the start. What it returns runs
   * when the last answer is over, within `SHUTDOWN_GRACE_MS`. The build does not run it.
   */
  readonly start?: (server: AppStart) => AppStop | void | Promise<AppStop | void>
  /** Error reports. */
  readonly reports?: {
    /**
     * `ask`: nothing is loaded or sent before the page has called `allowReports`; what fails until then is kept in the
     * page. Default: reports are sent.
     */
    readonly consent?: 'ask'
    /**
     * Origins of services that go on with the trace of a request when this server fetches from them:
     * `https://api.example.com`. They are sent `sentry-trace` and `baggage`. Default: none.
     */
    readonly traceOrigins?: readonly string[]
  }
  /** What browsers are to watch over, beyond what they always do. */
  readonly security?: {
    /**
     * Which scripts must be those of the build, byte for byte, or they do not run. `page`, the default: those that a
     * document names, some 60 bytes each. `all`: those too that are loaded later, by an import map with every script of
     * the build in each document, some 90 bytes each; for sites whose files come from somebody else's machines.
     */
    readonly integrity?: 'page' | 'all'
    /**
     * Whether text is kept out of the places of the DOM that run it, in browsers that know Trusted Types. The runtime
     * has none. `dangerouslySetInnerHTML` then needs a `TrustedHTML` where React writes it in the browser.
     */
    readonly trustedTypes?: boolean
    /**
     * Origins, beside the site's own, to which a form of a page may lead: `https://login.example.com`. Browsers look at
     * redirects too, so an action that redirects to another site without JavaScript needs that site here. Default: none.
     */
    readonly formTargets?: readonly string[]
    /**
     * What documents may load from beyond the site, by directive of their policy:
     * `{ 'img-src': ['https://images.example.com'] }`. An origin, one with `*.` in front of its host, or `blob:` and
     * `data:` (not for scripts). Default: nothing.
     */
    readonly sources?: PolicySources
    /**
     * How often one visitor may call actions and ask for route data, counted on all instances that share a store
     * together; more is 429 with `Retry-After`. Default: no limit, because whole offices and villages share an address.
     */
    readonly limits?: VisitorLimits
  }
}

/** States the application: the default export of its `app.ts`. Checked by the build and by `createApp`. */
export function defineApp(app: AppDefinition): AppDefinition {
  return app
}

/** How often one visitor may ask, by what is asked. A visitor is an address, or an IPv6 network of 64 bits. */
export interface VisitorLimits {
  /** Calls of actions, with and without JavaScript together. */
  readonly actions?: RateLimit | undefined
  /** Route data, prefetches included. */
  readonly data?: RateLimit | undefined
}

/** Sources by directive: origins, with `*.` in front of the host for its subdomains, or schemes such as `blob:`. */
export type PolicySources = Readonly<Partial<Record<SourceDirective, readonly string[]>>>

/** What a document's policy may allow beyond the site itself, by the directive of CSP that says so. */
export type SourceDirective =
  'connect-src' | 'font-src' | 'frame-src' | 'img-src' | 'media-src' | 'script-src' | 'style-src' | 'worker-src'
