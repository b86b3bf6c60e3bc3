import { onTestFinished } from 'vitest'
import { startBuiltServer, type BuiltServer, type BuiltServerOptions } from './built-server.ts'

/** Starts the built server for one test, whose end it does not outlive. */
export async function serverOfTest(options: BuiltServerOptions = {}): Promise<BuiltServer> {
  const server = await startBuiltServer(options)
  onTestFinished(() => server.kill('SIGKILL'))
  return server
}
