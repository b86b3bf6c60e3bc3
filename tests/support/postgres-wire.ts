import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'

/** A wire to a PostgreSQL that can break as networks do. */
export interface PostgresWire extends AsyncDisposable {
  /** The URL of the database by this wire. */
  readonly url: string
  /** Open connections carry nothing any more, and nobody is told; new ones work. */
  silence(): void
  /** The next answer to a COMMIT is lost with its connection, after the database has given it. */
  cutAfterCommit(): void
}

/** @param url of a database on the loopback. */
export async function startPostgresWire(url: string): Promise<PostgresWire> {
  const { hostname, port } = new URL(url)
  const open = new Set<{ readonly ends: readonly Socket[]; isSilent: boolean }>()
  let isCutting = false
  const server = createServer((client) => {
    const database = connect(Number(port), hostname)
    const pair = { ends: [client, database], isSilent: false }
    open.add(pair)
    let isCommitting = false
    const end = (): void => {
      open.delete(pair)
      if (!pair.isSilent) for (const one of pair.ends) one.destroy()
    }
    for (const one of pair.ends) one.on('error', () => undefined).on('close', end)
    client.on('data', (bytes) => {
      isCommitting ||= isCutting && bytes.includes('COMMIT')
      if (!pair.isSilent) database.write(bytes)
    })
    database.on('data', (bytes) => {
      if (isCommitting) {
        isCutting = false
        end()
      } else if (!pair.isSilent) client.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = new URL(url)
  own.port = String((server.address() as AddressInfo).port)
  return {
    url: own.href,
    silence() {
      for (const pair of open) pair.isSilent = true
    },
    cutAfterCommit() {
      isCutting = true
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const { ends } of open) for (const one of ends) one.destroy()
      if (server.listening) await once(server, 'close')
    },
  }
}
