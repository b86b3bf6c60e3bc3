/** What an application's `app.ts` and its `*.server.ts` modules may import. Never part of the browser's bundle. */
export { defineApp, type AppDefinition, type AppStart, type AppStop } from './define-app.ts'
export { forbidden, notFound, permanentRedirect, redirect, unauthorized } from '../shared/control-flow.ts'
export { action } from './actions/action.ts'
export type { Action, ActionCall, ActionDefinition, ActionState, UploadedFile, UploadLimits } from './actions/action.ts'
export type { InvalidInput } from '../shared/action-result.ts'
export {
  defineSession,
  type Session,
  type SessionContext,
  type SessionKind,
  type SessionOptions,
} from './sessions/define-session.ts'
export type { Secrets } from './secrets/secrets.ts'
export { DatabaseError } from './stores/database-error.ts'
export { openDatabase, type Database, type DatabaseOptions } from './stores/open-database.ts'
export { UnavailableError, type UnavailableOptions } from './unavailable-error.ts'
export { UncacheableValueError } from './cache/value-text.ts'
export { VisitorInCacheError } from './cache/read-scope.ts'
export type {
  CachedOptions,
  CachedRead,
  CacheKey,
  CacheOptions,
  HandlerModule,
  LoaderArgs,
  LoaderContext,
  ResourceHandler,
  SearchSchema,
} from './loader-types.ts'
export type {
  ReportDetails,
  ReportEvent,
  ReportException,
  ReportFrame,
  ReportGroup,
  ReportInbox,
  ReportItem,
  ReportPage,
  ReportSide,
} from './reports/inbox.ts'
export { clientKey } from './request/client-key.ts'
export type { PolicySources } from './render/policy-sources.ts'
export type { VisitorLimits } from './ops/visitor-limits.ts'
export type { RuleSet } from '../shared/rules/rule-types.ts'
