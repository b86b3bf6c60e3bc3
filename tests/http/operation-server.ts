import { expect } from 'vitest'
import type { BuiltServer, BuiltServerOptions } from '../support/built-server.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { serverOfTest } from '../support/server-of-test.ts'

/** A server for one test. */
export const started = (options: BuiltServerOptions['env'] = {}): Promise<BuiltServer> => serverOfTest({ env: options })

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
