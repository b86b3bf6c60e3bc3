import { digestOf } from '../../shared/control-flow.ts'
import type { ErrorProps } from '../module-types.ts'
import { ServerFailure } from './boundaries.tsx'
import type { RouteLoadError } from './router-errors.ts'

/** Props of an error page for a value that the browser has caught, without `retry`. */
export function failureProps(value: unknown): Omit<ErrorProps, 'retry'> {
  const isServers = value instanceof ServerFailure
  // By its name: another part of the application may have its own copy of the class.
  const { name, reason, status } = Object(value) as Partial<RouteLoadError>
  const digest = digestOf(value)
  const isKnown = isServers || name === 'RouteLoadError'
  return {
    origin: isServers ? 'server' : 'client',
    ...(digest && { digest }),
    reason: isKnown ? (reason ?? (digest ? 'server' : 'offline')) : 'crash',
    ...(isKnown && status !== undefined && { status }),
  }
}
