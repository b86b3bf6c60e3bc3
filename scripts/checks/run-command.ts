import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'

/** Options of a command. */
interface CommandOptions {
  /** Working directory; also where `node_modules/.bin` is looked up. */
  readonly cwd: string
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** `inherit` shows the output at once, `collect` keeps it for the caller. Default: `inherit`. */
  readonly output?: 'inherit' | 'collect'
  /** `inherit` gives it the keys of the terminal. Default: `ignore`. */
  readonly input?: 'inherit' | 'ignore'
  /** After this many ms the command is ended and counts as failed; for commands that must not block a pipeline. */
  readonly timeoutMs?: number
}

/** How a command ended. */
interface CommandResult {
  /** Exit code; 1 if a signal ended it. */
  readonly code: number
  /** stdout and stderr in the order of output; empty unless collected. */
  readonly output: string
}

/** This process's environment with the project's own tools first, so that scripts also work outside npm. */
function toolEnvironment(cwd: string): NodeJS.ProcessEnv {
  const bin = join(cwd, 'node_modules', '.bin')
  return { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` }
}

/**
 * Runs a command of the project to its end.
 * @throws {Error} if the command cannot be started at all.
 */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const collect = options.output === 'collect'
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...toolEnvironment(options.cwd), ...options.env },
      ...(options.timeoutMs !== undefined && { timeout: options.timeoutMs, killSignal: 'SIGKILL' }),
      stdio: [options.input ?? 'ignore', collect ? 'pipe' : 'inherit', collect ? 'pipe' : 'inherit'],
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
