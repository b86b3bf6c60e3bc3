import type { DevWarning } from '../../../src/client/dev/dev-messages.ts'
import { terminalText } from './terminal-text.ts'

/** Prints warnings in the terminal, each once. */
interface WarningPrinter {
  /** Prints a warning of a request or a page, unless it was printed before. */
  once(warning: DevWarning): void
  /** Prints those that the previous call did not have; a fixed one that returns is printed again. */
  current(warnings: readonly DevWarning[]): void
}

const MOST_TEXT = 2_000 // characters
const MOST_REMEMBERED = 1_000 // a page may name as many as it likes

/** @param print prints a text. */
export function createWarningPrinter(print: (text: string) => void): WarningPrinter {
  const printed = new Set<string>()
  const state: { current: ReadonlySet<string> } = { current: new Set() }
  return {
    once(warning) {
      const key = nameOf(warning)
      if (printed.has(key) || printed.size >= MOST_REMEMBERED) return
      printed.add(key)
      print(warningText(warning))
    },
    current(warnings) {
      for (const warning of warnings) if (!state.current.has(nameOf(warning))) print(warningText(warning))
      state.current = new Set(warnings.map(nameOf))
    },
  }
}

/** A warning for the terminal. */
function warningText({ kind, message, frame, detail }: DevWarning): string {
  const place = frame === undefined ? '' : `${frame.file}:${frame.line}:${frame.column}: `
  // The rest of what React says is in the browser, and often here, from the server's own rendering.
  const said = kind === 'react' ? (message.split('\n\n')[0] ?? '') : message
  return `warn  ${place}${terminalText(said.slice(0, MOST_TEXT))}${detail === undefined ? '' : `\n${detail}`}`
}

/** The times of loaders differ from request to request. */
function nameOf({ kind, message, frame }: DevWarning): string {
  const place = frame === undefined ? '' : `${frame.file}:${frame.line}`
  return kind === 'slow' ? `${kind} ${place}` : `${kind} ${place} ${message}`
}
