import type { Message } from 'esbuild'
import type {
  DevFailure,
  DevFrame,
  DevRequest,
  DevWarning,
  DevWarningKind,
} from '../../../src/client/dev/dev-messages.ts'
import { variableOrigin } from '../../../src/server/config/variable-origin.ts'
import { BuildFault } from '../../build/build-fault.ts'
import { isEsbuildFailure, readable } from '../../build/esbuild-messages.ts'
import { describeFrames, excerptOf, parseStack, type OwnerOf, type RawFrame } from './stack-frames.ts'

/** An error from a log line or a page. */
export interface ThrownError {
  readonly type?: string
  readonly message?: string
  readonly stack?: string
  /** React's stack of components. */
  readonly components?: string
}

/** An error or a warning of a page. */
export interface PageReport extends ThrownError {
  readonly warning?: DevWarningKind
  /** Pattern of the page's route. */
  readonly route?: string
}

/** What the log says about a failure, besides its error. */
export interface FailureFacts {
  readonly digest?: string | undefined
  readonly request?: DevRequest | undefined
}

/** How to read frames. */
interface FrameSources {
  /** Whether a file is code that may be shown, by its path in the project. */
  isSource(path: string): boolean
  /** Translates a position in served code into one in its source. */
  locate?(frame: RawFrame): RawFrame
  /** Names the owner of other code. */
  readonly ownerOf?: OwnerOf
  /** Position of the module that a failure without an own frame belongs to. */
  readonly fallback?: DevFrame | undefined
}

/** For a failed build: the compiler's own excerpt is enough. */
const NO_SOURCES: FrameSources = { isSource: () => false }

/** Converts a failed build for the overlay; one entry per message of the compiler. */
export function buildFailures(root: string, thrown: unknown): readonly DevFailure[] {
  if (isEsbuildFailure(thrown)) return thrown.errors.map((message) => compilerFailure(root, readable(message, root)))
  if (thrown instanceof BuildFault) {
    const frames = thrown.place === undefined ? [] : [{ name: '', own: true, ...thrown.place }]
    const excerpt = excerptOf(root, frames)
    return [{ kind: 'build', message: thrown.message, frames, ...(excerpt === undefined ? {} : { excerpt }) }]
  }
  const error = thrown instanceof Error ? thrown : { message: String(thrown) }
  return [{ kind: 'build', message: error.message, frames: framesOf(root, error, NO_SOURCES) }]
}

/** Converts a compiler's warnings for the badge of pages, each once: several bundles may read the same file. */
export function buildWarnings(root: string, messages: readonly Message[]): readonly DevWarning[] {
  const warnings = messages.map((one): DevWarning => {
    const { message, frames, excerpt } = compilerFailure(root, readable(one, root))
    const [frame] = frames
    return {
      kind: 'build',
      message,
      ...(frame === undefined ? {} : { frame }),
      ...(excerpt === undefined ? {} : { detail: excerpt }),
    }
  })
  return [...new Map(warnings.map((one) => [JSON.stringify(one), one])).values()]
}

/** Converts an error of a request or of a page for the overlay. */
export function thrownFailure(
  root: string,
  kind: 'server' | 'browser',
  error: ThrownError,
  sources: FrameSources,
): DevFailure {
  const { type, message = '', components = '' } = error
  // A logged error may have lost its class on the way, and have the type `Object`.
  const named = type?.endsWith('Error') === true ? `${type}: ${message}` : message
  const frames = framesOf(root, error, sources)
  const around = components === '' ? [] : framesOf(root, { stack: components }, sources)
  const [place] = [...frames, ...around].filter(({ own }) => own)
  const shown = place === undefined && sources.fallback !== undefined ? [sources.fallback, ...frames] : frames
  const excerpt = excerptOf(root, place === undefined ? shown : [place])
  return {
    kind,
    message: named,
    frames: shown,
    ...(around.length === 0 ? {} : { components: around }),
    ...(excerpt === undefined ? {} : { excerpt }),
  }
}

/** A variable at fault at the start of a line: it is declared by `defineEnv`, or Millrace itself reads it. */
const VARIABLE = /^([A-Z][A-Z\d_]*): /m

/** A server that ended before it listened. */
export interface StartError {
  readonly message: string
  /** Its stderr. */
  readonly output: string
}

/** The same for the overlay. */
export function startFailure({ message, output }: StartError): ThrownError {
  const origin = faultyVariableOrigin(output)
  return { message: [message, output, origin].filter((text) => text !== '').join('\n'), stack: output }
}

/**
 * Where the variable was read or looked for that stopped a server.
 * @param output its stderr.
 * @returns a sentence; '' if no variable did.
 */
export function faultyVariableOrigin(output: string): string {
  const [, variable] = VARIABLE.exec(output) ?? []
  return variable === undefined ? '' : variableOrigin(variable)
}

/** Starts after the message, which may be a visitor's text and look like frames. */
function framesOf(
  root: string,
  { message = '', stack = '' }: ThrownError,
  { isSource, locate = (frame) => frame, ownerOf }: FrameSources,
): readonly DevFrame[] {
  const start = message === '' ? -1 : stack.indexOf(message)
  const calls = start === -1 ? stack : stack.slice(start + message.length)
  return describeFrames(root, parseStack(calls).map(locate), isSource, ownerOf)
}

function compilerFailure(root: string, { text, location, notes }: Message): DevFailure {
  const message = [text, ...notes.map(noteText)].join('\n')
  if (location === null) return { kind: 'build', message, frames: [] }
  const frame = { name: '', file: location.file, line: location.line, column: location.column + 1, own: true }
  const excerpt = excerptOf(root, [frame])
  return { kind: 'build', message, frames: [frame], ...(excerpt === undefined ? {} : { excerpt }) }
}

/** A note that ends with a colon announces its place, such as that of an opening tag. */
function noteText({ text, location }: Message['notes'][number]): string {
  return location !== null && text.endsWith(':')
    ? `${text} ${location.file}:${location.line}:${location.column + 1}`
    : text
}

/** The same for the terminal. */
export function failureText({ message, frames, excerpt }: DevFailure): string {
  const [at] = frames.filter(({ own }) => own)
  return [
    message,
    ...(at === undefined ? [] : [`  ${at.file}:${at.line}:${at.column}`]),
    ...(excerpt === undefined ? [] : [excerpt]),
  ].join('\n')
}
