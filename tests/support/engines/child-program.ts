import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

/** A program that runs beside the tests. */
interface ChildProgram extends AsyncDisposable {
  /** Has ended, or was never started. */
  readonly isOver: () => boolean
  /**
   * Waits for a text in what it writes.
   * @returns the first group of the pattern.
   * @throws {Error} with all that it has written when it ends, or when that takes too long.
   */
  says(pattern: RegExp): Promise<string>
}

const PATIENCE_MS = 30_000 // for hangs only
const END_LIMIT_MS = 5_000 // some browsers do not end when they are asked

/**
 * Starts a program.
 * @param stream of its streams the one that is read: 2 is what it complains on.
 */
export function startProgram(
  path: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stream = 2,
): ChildProgram {
  const stdio: StdioOptions = Array.from({ length: stream + 1 }, (_, at) => (at === stream ? 'pipe' : 'ignore'))
  const child = spawn(path, args, { stdio, env: { ...process.env, ...env } })
  const exited = new Promise<void>((resolve) => child.once('error', () => resolve()).once('exit', () => resolve()))
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null || child.pid === undefined
  const source = child.stdio[stream] as Readable
  let text = ''
  source.setEncoding('utf8').on('data', (part: string) => (text += part))

  return {
    isOver,
    async says(pattern) {
      const deadline = AbortSignal.timeout(PATIENCE_MS)
      for (;;) {
        const [, found] = pattern.exec(text) ?? []
        if (found !== undefined) return found
        if (deadline.aborted || isOver()) throw new Error(`${path} does not say ${String(pattern)}:\n${text}`)
        await Promise.race([once(source, 'data', { signal: deadline }).catch(() => undefined), exited])
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS)
      await exited
      clearTimeout(late)
    },
  }
}
