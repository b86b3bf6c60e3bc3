import { formatMessages, type BuildFailure, type Message } from 'esbuild'
import { BuildFault } from './build-fault.ts'

/** Whether esbuild itself refused the sources: its messages then carry file and line. */
export function isEsbuildFailure(thrown: unknown): thrown is BuildFailure {
  return thrown instanceof Error && 'errors' in thrown && Array.isArray(thrown.errors) && 'warnings' in thrown
}

/** esbuild's messages as text, each once: what is wrong, file:line:column, and the line itself. */
export async function describeMessages(messages: readonly Message[], kind: 'error' | 'warning'): Promise<string> {
  const formatted = await formatMessages([...messages], { kind, color: false, terminalWidth: 120 })
  return [...new Set(formatted.map((text) => text.trim()))].join('\n\n')
}

/**
 * What to print for a build that was stopped.
 * @returns `undefined` where the cause is a defect of the build itself, for which a stack is of use.
 */
export async function describeFault(thrown: unknown): Promise<string | undefined> {
  if (thrown instanceof BuildFault) return thrown.message
  return isEsbuildFailure(thrown) ? describeMessages(thrown.errors, 'error') : undefined
}
