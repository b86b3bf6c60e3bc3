import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { stop as stopEsbuild } from 'esbuild'
import { withRestartMark } from './restart-mark.ts'

const EXIT_LIMIT_MS = 2_000 // esbuild ends in a few

/** Processes that this one has started since and that have not ended. */
export function trackChildren(): ReadonlySet<ChildProcess> {
  const children = new Set<ChildProcess>()
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess }
    children.add(child)
    child.once('exit', () => children.delete(child))
  })
  return children
}

/**
 * Starts this command again in the same process, since Node cannot load a config's modules again. Does not return where the
 * platform can do that.
 * @param env of the next program.
 * @param port at which this one has listened.
 * @param children must end before: the next program does not know them, and could not collect their exit.
 */
export async function replaceProcess(
  env: NodeJS.ProcessEnv,
  port: number,
  children: ReadonlySet<ChildProcess>,
): Promise<void> {
  await stopEsbuild()
  const ends = [...children].map((child) => once(child, 'exit'))
  await Promise.race([Promise.all(ends), delay(EXIT_LIMIT_MS)])
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, command, withRestartMark(env, port))
}
