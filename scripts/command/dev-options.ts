import { homedir } from 'node:os'
import { join } from 'node:path'
import { BuildFault } from '../build/build-fault.ts'
import { checkBuildOptions, type BuildOptions } from '../build/build-options.ts'
import { APP_ARGUMENT, locateApplication } from '../build/project/locate-application.ts'
import { readArguments, type Arguments } from '../build/project/read-arguments.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { ownCertificate, readCertificate, type Certificate } from '../dev/serve/certificate.ts'
import type { InspectorAddress } from '../dev/process/inspector-port.ts'
import { networkAddresses } from '../dev/process/local-hosts.ts'

/** The options of `millrace dev`. */
export const DEV_ARGUMENTS = {
  ...APP_ARGUMENT,
  inspect: { value: '[host:]port', alone: '9229' }, // Node's own default
  host: { value: 'address', alone: '0.0.0.0' },
  'allow-host': { value: '<name>', multiple: true },
  poll: { value: 'ms', alone: '500' },
  https: { value: '' },
  cert: { value: '<file>' },
  key: { value: '<file>' },
  'inspect-wait': { value: '[host:]port', alone: '9229' },
} as const

type DevArguments = Arguments<typeof DEV_ARGUMENTS>

/** What `millrace dev` reads once: its arguments, the environment, and the project's config. */
interface DevSettings {
  readonly options: BuildOptions
  readonly port: number
  readonly host: string | undefined
  readonly allowHosts: readonly string[]
  readonly certificate: Certificate | undefined
  readonly inspector: InspectorAddress | undefined
  readonly pollMs: number | undefined
}

/**
 * Reads the settings.
 * @throws {BuildFault} if there is no application, or an option or the config is wrong; {ConfigError} on a wrong variable.
 */
export async function readDevSettings(args: readonly string[]): Promise<DevSettings> {
  const values = readArguments(args, DEV_ARGUMENTS)
  const inspector = inspectorOf(values)
  const allowHosts = allowedHosts(values)
  const pollMs = pollOf(values, process.env)
  delete process.env['MILLRACE_POLL'] // the server refuses names that it does not know
  const certificate = await certificateOf(values, allowHosts)
  const options = await locateApplication(values)
  checkBuildOptions(options)
  const { port } = readConfig(process.env)
  return { options, port, host: values.host, allowHosts, certificate, inspector, pollMs }
}

const INSPECTOR = /^(?:(\[[\da-f:.]+\]|[\w.-]+):)?(\d{1,5})$/i

/**
 * Where the debugger of the server is to listen: on this machine only, unless an address is named.
 * @throws {BuildFault} for a value that is not a port, with or without an address.
 */
function inspectorOf(values: DevArguments): InspectorAddress | undefined {
  const { inspect, 'inspect-wait': wait } = values
  const text = wait ?? inspect
  if (text === undefined) return undefined
  const [, host = '127.0.0.1', digits = ''] = INSPECTOR.exec(text) ?? []
  const port = Number(digits)
  if (port < 1 || port > 65_535) {
    const name = wait === undefined ? 'inspect' : 'inspect-wait'
    throw new BuildFault(`--${name} takes a port from 1 to 65535, with or without an address: --${name} 127.0.0.1:9229`)
  }
  return { host: host.replace(/^\[|\]$/g, ''), port, waits: wait !== undefined }
}

const NAME = /^(?:[a-z\d_-]+(?:\.[a-z\d_-]+)*|\[[\da-f:.]+\])$/

/**
 * The host names of `--allow-host`, in lower case.
 * @throws {BuildFault} for a value with a scheme, a port or a path.
 */
export function allowedHosts({ 'allow-host': names = [] }: DevArguments): readonly string[] {
  return names.map((given) => {
    const name = given.toLowerCase()
    if (NAME.test(name)) return name
    throw new BuildFault(
      `--allow-host '${given}' is not a host name: leave out scheme, port and path, as in --allow-host mill.ngrok.app`,
    )
  })
}

/**
 * The certificate for https, given or made for this machine; `undefined` for http.
 * @param allowHosts from `allowedHosts`.
 * @throws {BuildFault} for a certificate without a key, or one that cannot be read or made.
 */
export async function certificateOf(
  { https, cert, key, host }: DevArguments,
  allowHosts: readonly string[],
): Promise<Certificate | undefined> {
  if ((cert === undefined) !== (key === undefined)) {
    throw new BuildFault('--cert <file> and --key <file> belong together: https needs both.')
  }
  if (cert !== undefined && key !== undefined) return readCertificate(cert, key)
  if (https === undefined) return undefined
  const names = ['localhost', '127.0.0.1', '::1', ...(host === undefined ? [] : networkAddresses())]
  const allowed = allowHosts.map((name) => name.replace(/^\[(.*)\]$/, '$1'))
  return ownCertificate(join(homedir(), '.millrace/certificates'), [...new Set([...names, ...allowed])], process.env)
}

const [LEAST_POLL_MS, MOST_POLL_MS] = [50, 60_000] // less keeps a processor busy, and more looks broken

/**
 * Milliseconds between looks at the sources, by `--poll` or MILLRACE_POLL; `undefined` to watch them.
 * @throws {BuildFault} for a value out of range.
 */
export function pollOf({ poll }: DevArguments, env: Readonly<Record<string, string | undefined>>): number | undefined {
  const [name, text] = poll === undefined ? ['MILLRACE_POLL', env['MILLRACE_POLL'] ?? ''] : ['--poll', poll]
  if (text === '') return undefined
  const ms = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (ms >= LEAST_POLL_MS && ms <= MOST_POLL_MS) return ms
  throw new BuildFault(`${name} is '${text}': it takes milliseconds, from ${LEAST_POLL_MS} to ${MOST_POLL_MS}.`)
}
