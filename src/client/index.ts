/** Public interface for pages, layouts and fallbacks of an application. Safe on the server and in the browser. */

// Reference: Routes and links
export type * from '../shared/register.ts'
export type { EntryPattern, IsRegistered, RoutePattern, TableKey } from '../shared/registered-table.ts'
export { defineRoutes } from './define-routes.ts'
export type { Params } from '../shared/route-pattern.ts'
export type { VariantRequest } from '../shared/route-definition.ts'
export type { Href, LinkTarget, RedirectTarget } from '../shared/link-target.ts'
export { href } from '../shared/href.ts'
export { withBasePath } from '../shared/base-path.ts'
export { external } from '../shared/external.ts'
export { Link, type LinkProps, type Prefetch } from './react/link.tsx'

// Reference: Pages and layouts
export type {
  DocumentProps,
  ErrorProps,
  LayoutProps,
  LoaderData,
  Metadata,
  PageProps,
  SearchOf,
} from './module-types.ts'
export { useLocation, type PageLocation } from './hooks/use-location.ts'
export { useLoaderData, useMatches, useParams, useSearch } from './hooks/use-view.ts'
export type { RouteMatchInfo, SearchOptions, SetSearch } from './hooks/use-view.ts'
export { forbidden, notFound, permanentRedirect, redirect, unauthorized } from '../shared/control-flow.ts'
export { ErrorBoundary, type ErrorBoundaryProps } from './react/error-boundary.tsx'
export { Html, type HtmlElementName, type HtmlProps } from './react/html.tsx'
export { html } from '../shared/protocol/html.ts'
export type { HtmlValue } from '../shared/html-value.ts'
export { ClientOnly, type ClientOnlyProps } from './react/client-only.tsx'

// Reference: Navigation
export { useFetcher, type Fetcher } from './hooks/use-fetcher.ts'
export {
  useBlocker,
  useLinkStatus,
  useNavigate,
  useNavigateEvents,
  useNavigation,
  useOnline,
} from './hooks/use-router.ts'
export type { Navigate } from './hooks/use-router.ts'
export type {
  BlockedNavigation,
  BlockerQuestion,
  NavigateEvent,
  NavigateOptions,
  NavigationKind,
  PendingNavigation,
  UploadProgress,
} from './react/router-types.ts'
export { Form, type FormProps } from './react/form.tsx'

// Reference: Forms and actions
export type { Action, ActionState } from '../shared/action-types.ts'
export { isInvalidInput, type FailedAction, type InvalidInput } from '../shared/action-result.ts'
export { useField, type ControlProps, type FieldOptions, type FieldParts } from './hooks/use-field.ts'
export { Field, FieldError, type FieldErrorProps, type FieldProps } from './hooks/field.tsx'
export { useUnsent, useUploadProgress } from './hooks/use-action.ts'

// Reference: Documents and browsers
export { hydrate, type HydrateOptions } from './entry.tsx'
export type { BrowserTextsOf, Texts, TextsOf, TextsPage } from '../shared/texts.ts'
export { useNonce, useServerInsertedHTML } from './hooks/use-server-document.ts'
export { publicEnv } from './public-env.ts'
export type { PublicEnv } from '../shared/public-env.ts'
export { useEvents, type EventHandlers } from './hooks/use-events.ts'
export { allowReports } from './reports/page-reports.ts'
