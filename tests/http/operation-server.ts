import { expect, onTestFinished } from 'vitest'
import { startBuiltServer, type BuiltServer, type BuiltServerOptions } from '../support/built-server.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import type { RawResponse } from '../support/raw-response.ts'

/** A server for one test. */
export async function started(options: BuiltServerOptions['env'] = {}): Promise<BuiltServer> {
  const server = await startBuiltServer({ env: options })
  onTestFinished(() => server.kill('SIGKILL'))
  return server
}

/** Sends a GET. */
export const get = (
  { port }: BuiltServer,
  path: string,
  headers?: Readonly<Record<string, string>>,
  host?: string,
): Promise<RawResponse> => requestRaw(port, getRequest(path, headers, host))

/** The log line of a request, which is written a little after its answer. */
export async function lineOf(server: BuiltServer, wanted: object): Promise<Record<string, unknown>> {
  const find = () => server.logs().find((line) => Object.entries(wanted).every(([name, value]) => line[name] === value))
  await expect.poll(find, { timeout: 5_000 }).toBeDefined()
  return find() ?? {}
}
