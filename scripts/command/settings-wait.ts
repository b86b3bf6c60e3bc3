import { projectFolder } from '../build/project/locate-application.ts'
import { readArguments } from '../build/project/read-arguments.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { serveFault } from '../dev/serve/fault-server.ts'
import { allowedHosts, certificateOf, DEV_ARGUMENTS, pollOf } from './dev-options.ts'
import { ListenFault } from './dev-listening.ts'
import { replaceProcess, trackChildren } from './replace-process.ts'
import { watchSettings } from './settings-watch.ts'

/** A restart that has failed. */
interface FailedRestart {
  readonly args: readonly string[]
  /** The environment without the values from `.env` files. */
  readonly env: NodeJS.ProcessEnv
  /** At which the former program has listened. */
  readonly port: number
  readonly error: unknown
  /** `error` for a reader; already printed. */
  readonly fault: string
}

const WAITS = 'Millrace starts again when the settings are fixed.'

/** Waits for settings that can be used, answers browsers with the fault until then, and starts again. */
export async function waitForSettings({ args, env, port, error, fault }: FailedRestart): Promise<void> {
  console.error(WAITS)
  const values = readArguments(args, DEV_ARGUMENTS)
  const children = trackChildren()
  const allowHosts = allowedHosts(values)
  const server = await certificateOf(values, allowHosts)
    .then((certificate) => serveFault(fault, { port: portOf(port), host: values.host, allowHosts, certificate }))
    .catch(() => undefined) // its port is taken, or what it would listen with is at fault
  watchSettings({
    args,
    root: projectFolder(values),
    cwd: process.cwd(),
    env,
    pollMs: pollOf(values, env),
    otherwise: WAITS,
    // A port in use is not a fault of the settings: they would start again at once.
    fault: error instanceof ListenFault ? undefined : fault,
    print(text) {
      console.log(text)
      server?.say(text)
    },
    restart() {
      server?.close()
      void replaceProcess(env, port, children)
    },
  })
}

/** Of the settings, where that can be read. */
function portOf(former: number): number {
  try {
    return readConfig(process.env).port
  } catch {
    return former
  }
}
