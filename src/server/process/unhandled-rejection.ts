/**
 * Rejections of promises that nothing handles. One of a request's code is a failure of that request, logged and reported
 * once; any other leaves the process in an unknown state.
 */
import { currentScope } from '../request/request-scope.ts'
import { isOfLeftRequest } from './left-request.ts'

/**
 * Call it in a listener of `unhandledRejection`.
 * @returns whether it was of a request's code, and is dealt with.
 */
export function isOfRequest(thrown: unknown): boolean {
  if (isOfLeftRequest(thrown)) return true
  const scope = currentScope()
  if (scope === undefined) return false
  scope.fail(thrown)
  return true
}

/** On the process: the applications of a host. Each has its own copy of this module. */
const EMBEDDED = Symbol.for('millrace.embedded')

type Claim = (thrown: unknown) => boolean

interface HostProcess {
  [EMBEDDED]?: { readonly claims: Set<Claim>; readonly listener: (thrown: unknown) => void }
}

/**
 * Keeps requests of an embedded application from ending the process of its host. The host's own rejections end it as
 * without this: Node raises those that no listener hears as uncaught exceptions.
 * @returns ends it.
 */
export function guardHost(): () => void {
  const host = process as HostProcess
  const embedded = (host[EMBEDDED] ??= listen())
  const claim: Claim = (thrown) => isOfRequest(thrown)
  embedded.claims.add(claim)
  return () => {
    embedded.claims.delete(claim)
    if (embedded.claims.size > 0) return
    process.off('unhandledRejection', embedded.listener)
    delete host[EMBEDDED]
  }
}

/** Options of Node by which it does not raise them. */
const IS_LENIENT = /--unhandled-rejections=(?:none|warn)/

function listen(): NonNullable<HostProcess[typeof EMBEDDED]> {
  const claims = new Set<Claim>()
  const listener = (thrown: unknown): void => {
    for (const isOurs of claims) if (isOurs(thrown)) return
    const isHeardByHost = process.listenerCount('unhandledRejection') > 1
    const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ')
    if (!isHeardByHost && !IS_LENIENT.test(options)) throw thrown
  }
  process.on('unhandledRejection', listener)
  return { claims, listener }
}
