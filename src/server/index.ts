/** Public interface for an application's `app.ts` and its `*.server.ts` modules. Never part of the browser's bundle. */

// Reference: Applications
export { defineApp, type AppDefinition, type AppStart, type AppStop, type ReportOptions } from './api/define-app.ts'
export type { DataLifetime } from './api/define-app.ts'
export type { PolicySources } from './api/define-app.ts'
export type { VisitorLimits } from './api/define-app.ts'
export { createApp, type CreateAppOptions, type CreatedApp } from './create-app.ts'
export { defineEnv, type Env, type EnvOptions, type Environment } from './api/define-env.ts'
export { millrace, type EmbeddedApp, type MillraceOptions } from './api/millrace.ts'
export type { RuleSet } from '../shared/rules/rule-types.ts'

// Reference: Loaders and handlers
export type {
  CacheOptions,
  GuardArgs,
  GuardModule,
  HandlerArgs,
  HandlerModule,
  LoaderArgs,
  LoaderContext,
  SharedLifetime,
  ResourceHandler,
  RoutePaths,
  VisitorArgs,
} from './api/loader-types.ts'
export {
  eventStream,
  type EventStream,
  type EventStreamOptions,
  type ServerEvent,
  type StartEvents,
} from './api/event-stream.ts'
export { sendFile, type SendFileOptions } from './api/send-file.ts'
export { forbidden, notFound, permanentRedirect, redirect, unauthorized } from '../shared/control-flow.ts'
export { redirectBack, type ReferredRequest } from './api/redirect-back.ts'
export { external } from '../shared/external.ts'
export { href } from '../shared/href.ts'
export type { Href, LinkTarget, RedirectTarget } from '../shared/link-target.ts'
export { html } from '../shared/protocol/html.ts'
export type { HtmlValue } from '../shared/html-value.ts'
export { UnavailableError, type UnavailableOptions } from './http/unavailable-error.ts'
export { clientKey } from './http/client-key.ts'

// Reference: Actions and schemas
export { action } from './routes/actions/action.ts'
export type { ActionCall, ActionDefinition, UploadLimits } from './routes/actions/action.ts'
export type { Action, ActionState } from '../shared/action-types.ts'
export type { FailedAction, InvalidInput } from '../shared/action-result.ts'
export type { UploadedFile } from './http/body/uploaded-file.ts'
export { refuseInput } from './api/refuse-input.ts'
export type { Schema, SchemaIssue, SchemaOutput, StandardResult, StandardSchema, ZodSchema } from '../shared/schema.ts'

// Reference: Sessions and secrets
export {
  defineSession,
  type Session,
  type SessionContext,
  type SessionKind,
  type SessionOptions,
} from './secrets/define-session.ts'
export {
  defineStoredSession,
  type StoredSessionKind,
  type StoredSessionOptions,
} from './secrets/define-stored-session.ts'
export type { SessionDevice, StoredSession } from './secrets/stored-session.ts'
export type { Secrets } from './secrets/secrets.ts'

// Reference: Stores and caches
export { DatabaseError } from './stores/database-error.ts'
export { openDatabase, type Database, type DatabaseOptions } from './stores/open-database.ts'
export { UncacheableValueError } from './stores/cache/value-text.ts'
export { VisitorInCacheError } from './stores/cache/read-scope.ts'
export type { CachedOptions, CachedRead, CacheKey } from './stores/cache/cached-read.ts'

// Reference: Error reports
export type {
  ReportDetails,
  ReportEvent,
  ReportException,
  ReportFilter,
  ReportFrame,
  ReportGroup,
  ReportInbox,
  ReportItem,
  ReportPage,
  ReportSide,
} from './api/report-inbox.ts'
