import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** A program that could not be run, or ended with another code than 0; carries what it printed. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError'
}

/** How a program is run. */
export interface CollectOptions {
  readonly cwd: string
  /** Set on top of this process's environment. */
  readonly env?: Readonly<Record<string, string>>
}

const LIMIT_MS = 600_000 // a build or a download that is still at it has hung
const MOST_OUTPUT = 64 * 1024 * 1024 // bytes; a build that prints more has run away

/**
 * Runs a program to its end.
 * @returns what it wrote to stdout, trimmed.
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
