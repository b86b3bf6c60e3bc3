import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** A program that could not be run, or exited with an error; contains its output. */
class ProgramError extends Error {
  override readonly name = 'ProgramError'
}

/** How a program is run. */
interface CollectOptions {
  readonly cwd: string
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>
}

const LIMIT_MS = 600_000 // a build or a download that takes longer hangs
const MOST_OUTPUT = 64 * 1024 * 1024 // bytes; a build that prints more is out of control

/**
 * Runs a program to its end.
 * @returns its stdout, trimmed.
 * @throws {ProgramError}
 */
export async function collectOutput(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: CollectOptions,
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: LIMIT_MS, maxBuffer: MOST_OUTPUT }
  try {
    const { stdout } = await promisify(execFile)(program, args, options)
    return stdout.trim()
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = error as Error & { readonly stdout?: string; readonly stderr?: string }
    const said = stdout === '' && stderr === '' ? message : `${stdout}${stderr}`
    throw new ProgramError(`${program} ${args.join(' ')}\nfailed:\n${said}`, { cause: error })
  }
}
