/**
 * Where the variables of a process come from. The commands of Millrace read `.env` files, and the built server does not, so a
 * message about a variable names the files. A bundle of the server has its own copy of this module: both copies meet at `process`.
 */
import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { ConfigError } from './config.ts'

/** In this order: the first value of a variable wins, and the environment has priority over files. */
export const ENV_FILES = ['.env.local', '.env'] as const

/** What a command has read. */
export interface EnvFilesRead {
  /** The folder of the files. */
  readonly folder: string
  /** Name of the file by the variable that it has set. */
  readonly origins: ReadonlyMap<string, string>
  /** Name of the file by the variable that it has too, but the environment had already. */
  readonly hidden: ReadonlyMap<string, string>
}

const READ = Symbol.for('millrace.env-files')

/** `process` of a command that has read `.env` files. */
interface ReadingProcess {
  [READ]?: EnvFilesRead
}

/** Remembers what this process has read. */
export function rememberEnvFiles(read: EnvFilesRead): void {
  const reader = process as ReadingProcess
  reader[READ] = read
}

/** The message of a fault, with the place to change, in one line. */
export function configFault({ message, variable }: Pick<ConfigError, 'message' | 'variable'>): string {
  const note = variableOrigin(variable)
  return note === '' ? message : `${message}. ${note}`
}

/**
 * A sentence about where a variable has been read or looked for; '' if there is nothing to say.
 * @param environment in which it may be.
 */
export function variableOrigin(variable: string, environment: NodeJS.ProcessEnv = process.env): string {
  const read = (process as ReadingProcess)[READ]
  if (read === undefined) return environment[variable] === undefined && isServerAlone() ? SERVER_ALONE : ''
  const origin = read.origins.get(variable)
  if (origin !== undefined) return `${variable} is from ${origin} in ${read.folder}.`
  const hidden = read.hidden.get(variable)
  if (hidden !== undefined) return `${variable} is from the environment, which has priority over ${hidden}.`
  if (environment[variable] !== undefined) return ''
  const there = ENV_FILES.filter((name) => existsSync(join(read.folder, name)))
  const missing = ENV_FILES.filter((name) => !there.includes(name))
  const files = ['the environment', ...there].join(', then ')
  return there.length === ENV_FILES.length
    ? `Variables are read from ${files} in ${read.folder}.`
    : `Variables are read from ${files}; ${read.folder} has no ${missing.join(' and no ')}.`
}

const SERVER_ALONE =
  'This server reads the environment alone, and no .env file. Start it with millrace serve, or with node --env-file=.env dist/server/main.js.'

/** Whether this process is a built server that no command, no development server and no primary has started. */
function isServerAlone(): boolean {
  const { argv, execArgv } = process
  return (
    argv[1]?.endsWith(join(sep, 'server', 'main.js')) === true &&
    !process.connected &&
    !execArgv.some((argument) => argument.startsWith('--env-file'))
  )
}
