import type { DevFailure, DevRequest } from './dev-messages.ts'
import { frameText } from './fold-frames.ts'

/** Heading of a failure. */
export function failureTitle({ kind, request }: DevFailure): string {
  if (kind === 'build') return 'The build failed'
  if (kind === 'browser') return 'The page failed in the browser'
  if (request === undefined) return 'The server failed outside of a request'
  if (request.loader !== undefined) return 'A loader failed on the server'
  if (request.action !== undefined) return 'An action failed on the server'
  return 'A request failed on the server'
}

/** The facts about a request, with their names. */
export function requestFacts(request: DevRequest): readonly (readonly [name: string, value: string])[] {
  const { method, url, route, status, loader, action, id } = request
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Request', `${method} ${url}`],
    ['Route', route],
    ['Loader', loader],
    ['Action', action],
    ['Status', status === undefined ? undefined : String(status)],
    ['Request id', id],
  ]
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

/**
 * A failure as plain text, for an issue or a message.
 * @param versions of what runs.
 */
export function failureText(failure: DevFailure, versions: string): string {
  const { message, excerpt, frames, components = [], digest, request } = failure
  const facts = [
    ...(request === undefined ? [] : requestFacts(request)),
    ...(digest === undefined ? [] : [['Digest', digest] as const]),
    ...(versions === '' ? [] : [['Versions', versions] as const]),
  ]
  const stack = (title: string, all: DevFailure['frames']): readonly string[] =>
    all.length === 0 ? [] : [[title, ...all.map((frame) => `  at ${frameText(frame)}`)].join('\n')]
  return [
    `${failureTitle(failure)}\n${message}`,
    ...(excerpt === undefined ? [] : [excerpt]),
    ...stack('Stack:', frames),
    ...stack('Components:', components),
    facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
