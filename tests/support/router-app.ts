/**
 * `browserTest` for the pages of tests/fixtures/router-app, built and served as an application is. One build and one
 * server for all files of a worker; a second edition of the same application for tests of deployments.
 */
import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { browserTest } from './browser.ts'
import { buildFixture } from './build-fixture.ts'
import { startBuiltServer, type BuiltServer } from './built-server.ts'
import { makeTempDir } from './temp-dir.ts'

/** A running edition of the application. */
export interface RouterApp {
  /** The build's folder. */
  readonly out: string
  readonly server: BuiltServer
  /** Ends the server and removes the build. */
  stop(): Promise<void>
}

/**
 * Builds and starts an edition; two editions are two builds of the same pages.
 * @param fixture a folder of tests/fixtures.
 */
export async function startEdition(edition: string, fixture: string): Promise<RouterApp> {
  const temp = await makeTempDir(`${fixture}-${edition}`)
  const out = await buildFixture(fixture, temp, { env: { PUBLIC_EDITION: edition } })
  const server = await startBuiltServer({ entry: join(out, 'server/main.js') })
  return {
    out,
    server,
    async stop() {
      await server.stop()
      await temp.remove()
    },
  }
}

/** One public address, and behind it whichever server was deployed last. */
export interface Deployment {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  /** Puts a server in the place of the former one, whose connections end. */
  deploy(server: Pick<BuiltServer, 'port'>): void
  close(): void
}

/** Opens the address. */
export async function openDeployment(first: Pick<BuiltServer, 'port'>): Promise<Deployment> {
  const sockets = new Set<Socket>()
  const state = { port: first.port }
  const end = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((socket) => {
    const behind = connect(state.port, '127.0.0.1')
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deploy({ port }) {
      state.port = port
      end()
    },
    close() {
      server.close()
      end()
    },
  }
}

/** `browserTest` whose `server` is an edition of a folder of tests/fixtures. */
export const editionTest = (fixture: string, name = '1') =>
  browserTest
    .extend('edition', { scope: 'worker' }, async ({}, { onCleanup }) => {
      const edition = await startEdition(name, fixture)
      onCleanup(() => edition.stop())
      return edition
    })
    .override('server', { scope: 'worker' }, ({ edition }) => edition.server)

/** What a page of a former build says. It asks for the list of its files when it is idle, which may be later than the deployment. */
export const OUTDATED: readonly RegExp[] = [
  /Failed to load route data|responded with a status of 409 /,
  /responded with a status of 404 .*\/segments-/,
]

/** Its `server` is the first edition, `next` the second one, and `deployment` an address that begins with the first. */
export const deploymentTest = (fixture: string) =>
  editionTest(fixture)
    .extend('next', { scope: 'worker' }, async ({}, { onCleanup }) => {
      const edition = await startEdition('2', fixture)
      onCleanup(() => edition.stop())
      return edition.server
    })
    // Outlives the pages, which may still ask for something while they are being closed.
    .extend('gate', { scope: 'worker' }, async ({ server }, { onCleanup }) => {
      const gate = await openDeployment(server)
      onCleanup(() => gate.close())
      return gate
    })
    .extend('deployment', ({ gate, server }) => {
      gate.deploy(server)
      return gate
    })

export const routerTest = deploymentTest('router-app')

/** Its `server` is the edition in which browsers watch over everything they can. */
export const sealedTest = editionTest('router-app', 'sealed')

export const fallbacksTest = editionTest('fallbacks-app')

export const liveTest = editionTest('live-app')

/** Examples that the handbook prints. */
export const handbookTest = editionTest('handbook-app')
