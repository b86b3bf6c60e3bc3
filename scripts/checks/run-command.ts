import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'

/** How a command is run. */
export interface CommandOptions {
  /** Working directory; also where `node_modules/.bin` is looked up. */
  readonly cwd: string
  /** Set on top of this process's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** `inherit` shows the output as it comes, `collect` keeps it for the caller. Default `inherit`. */
  readonly output?: 'inherit' | 'collect'
  /** After so many ms the command is ended, which counts as failed; for what must not hang a pipeline. */
  readonly timeoutMs?: number
}

/** How a command ended. */
export interface CommandResult {
  /** Exit code; 1 where a signal ended it. */
  readonly code: number
  /** stdout and stderr in the order they came; empty unless collected. */
  readonly output: string
}

/** This process's environment with the project's own tools first, so that scripts also work when not run by npm. */
export function toolEnvironment(cwd: string): NodeJS.ProcessEnv {
  const bin = join(cwd, 'node_modules', '.bin')
  return { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` }
}

/**
 * Runs a command of the project to its end.
 * @throws {Error} when the command cannot be started at all.
 */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const collect = options.output === 'collect'
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...toolEnvironment(options.cwd), ...options.env },
      ...(options.timeoutMs !== undefined && { timeout: options.timeoutMs, killSignal: 'SIGKILL' }),
      stdio: ['ignore', collect ? 'pipe' : 'inherit', collect ? 'pipe' : 'inherit'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
    }
    child.once('error', (error) =>
      reject(new Error(`Cannot run ${command}: ${error.message}. Has \`npm ci\` been run?`, { cause: error })),
    )
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
