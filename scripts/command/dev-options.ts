import { BuildFault } from '../build/build-fault.ts'
import { APP_ARGUMENT } from '../build/build-options.ts'
import type { Arguments } from '../build/read-arguments.ts'
import type { InspectorAddress } from '../dev/inspector-port.ts'

/** The options of `millrace dev`. */
export const DEV_ARGUMENTS = {
  ...APP_ARGUMENT,
  inspect: { value: '[host:]port', alone: '9229' }, // Node's own default
  'inspect-wait': { value: '[host:]port', alone: '9229' },
} as const

type DevArguments = Arguments<typeof DEV_ARGUMENTS>

const INSPECTOR = /^(?:(\[[\da-f:.]+\]|[\w.-]+):)?(\d{1,5})$/i

/**
 * Where the debugger of the server is to listen: on this machine only, unless an address is named.
 * @throws {BuildFault} for a value that is not a port, with or without an address.
 */
export function inspectorOf(values: DevArguments): InspectorAddress | undefined {
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
