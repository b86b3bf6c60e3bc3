/** Faults of the configuration that show only when a server starts. */
import { accessSync, constants } from 'node:fs'
import { ConfigError } from '../config/config.ts'
import { makeFolder } from '../stores/make-folder.ts'

/** The variable of a port. */
type PortVariable = 'PORT' | 'METRICS_PORT'

/** The name does not resolve, or is not an address of this machine. Sources: getaddrinfo(3), bind(2). */
const HOST_FAULT = /\b(?:ENOTFOUND|EAI_AGAIN|EADDRNOTAVAIL|EINVAL|EAFNOSUPPORT)\b/

/**
 * One line for a server that cannot listen: the variable at fault, the system's error, and a value that would work.
 * @param message of the system's error, with its code.
 */
export function listenFault(variable: PortVariable, address: { host: string; port: number }, message: string): string {
  const fault = `cannot listen on ${address.host}:${address.port}: ${message}`
  if (HOST_FAULT.test(message)) return `HOST: ${fault} (for example HOST=0.0.0.0)`
  return `${variable}: ${fault} (for example ${variable}=0, which picks a free one)`
}

/**
 * Checks DATA_DIR at the start. Stores are opened on first use, so a typo would show as failing pages hours later.
 * @throws {ConfigError} if the folder cannot be created or written.
 */
export function checkDataDir(folder: string): void {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (thrown) {
    const { code = 'unknown error' } = thrown as NodeJS.ErrnoException
    throw new ConfigError(
      'DATA_DIR',
      `"${folder}" is refused: expected a folder that this process can create and write, but got ${code} (for example DATA_DIR=./data)`,
    )
  }
}

/**
 * Checks that the client of `REDIS_URL` is installed: an application that shares nothing has none.
 * @param load imports the client, unless under test.
 * @throws {ConfigError} naming the command that installs it.
 */
export async function checkRedisClient(load: () => Promise<unknown> = () => import('@redis/client')): Promise<void> {
  await load().catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== 'ERR_MODULE_NOT_FOUND') throw thrown
    throw new ConfigError('REDIS_URL', 'needs @redis/client, which is not installed: npm install @redis/client')
  })
}
