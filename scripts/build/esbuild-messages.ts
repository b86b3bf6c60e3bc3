import { formatMessages, type BuildFailure, type Message } from 'esbuild'
import { BuildFault } from './build-fault.ts'

/** Whether esbuild itself refused the sources: its messages then have file and line. */
export function isEsbuildFailure(thrown: unknown): thrown is BuildFailure {
  return thrown instanceof Error && 'errors' in thrown && Array.isArray(thrown.errors) && 'warnings' in thrown
}

/** esbuild's messages as text, each once: the fault, file:line:column, and the line itself. */
export async function describeMessages(messages: readonly Message[], kind: 'error' | 'warning'): Promise<string> {
  const formatted = await formatMessages([...messages], { kind, color: false, terminalWidth: 120 })
  return [...new Set(formatted.map((text) => text.trim()))].join('\n\n')
}

/**
 * The text to print for a failed build.
 * @returns `undefined` if the cause is a defect of the build itself, for which a stack is useful.
 */
export async function describeFault(thrown: unknown): Promise<string | undefined> {
  if (thrown instanceof BuildFault) return thrown.message
  return isEsbuildFailure(thrown) ? describeMessages(thrown.errors, 'error') : undefined
}
