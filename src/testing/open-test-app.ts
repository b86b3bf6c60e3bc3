import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type CreateAppOptions, type MillraceApp } from '../server/app.ts'
import { readConfig } from '../server/config/config.ts'
import { createCookieJar } from './cookie-jar.ts'
import { PlainDocument } from './plain-document.ts'
import { createTestActions } from './test-actions.ts'
import type { TestApp, TestAppOptions, TestDefinition } from './test-app.ts'
import { createTestLog } from './test-log.ts'
import { createVisitor, type VisitorOptions } from './visitor.ts'

const STOP_LIMIT_MS = 5_000

const ACTIONS = createTestActions()

/** Temporary folders of apps that have not been stopped: a test that forgets it leaves nothing behind. */
const FOLDERS = new Set<string>()

/** `createTestApp`, with the server's own parts, for the tests of the runtime. */
export function openTestApp(
  definition: TestDefinition,
  {
    environment = {},
    clock,
    ...parts
  }: TestAppOptions & Pick<CreateAppOptions, 'assets' | 'actions' | 'forFiles'> = {},
): TestApp & MillraceApp {
  const folder = environment['DATA_DIR'] === undefined ? temporaryFolder() : undefined
  const config = readConfig({ ...environment, ...(folder === undefined ? {} : { DATA_DIR: folder }) })
  const { log, entries } = createTestLog()
  const app = createApp({
    ...parts,
    app: { document: PlainDocument, ...definition },
    config,
    environment,
    log,
    adoption: ACTIONS,
    ...(clock === undefined ? {} : { now: () => clock.now() }),
  })
  let started: Promise<void> | undefined
  const start = (): Promise<void> => (started ??= app.life.start())
  const site = openSite(app, start)
  let stopped: Promise<void> | undefined
  // What has failed to start cannot stop in good order.
  const isStarted = (): Promise<boolean> =>
    (started ?? Promise.resolve()).then(
      () => true,
      () => false,
    )
  const stop = (): Promise<void> => (stopped ??= end(app, { site, folder, isStarted }))
  if (definition.start !== undefined || app.redis !== undefined) startFirst(app, start)
  return Object.assign(app, {
    logs: entries,
    dataDir: config.dataDir,
    start,
    origin: site.origin,
    visitor: (visitor: VisitorOptions = {}) => createVisitor(site, { jar: createCookieJar(clock), ...visitor }),
    stop,
    [Symbol.asyncDispose]: stop,
  })
}

/** The path of a folder that the first store makes. */
function temporaryFolder(): string {
  const folder = join(tmpdir(), `millrace-test-${randomUUID()}`)
  if (FOLDERS.size === 0) process.on('exit', removeFolders)
  FOLDERS.add(folder)
  return folder
}

function removeFolders(): void {
  for (const folder of FOLDERS) rmSync(folder, { recursive: true, force: true })
}

interface ListeningSite {
  origin(): Promise<string>
  close(): Promise<void>
}

function openSite(app: MillraceApp, start: () => Promise<void>): ListeningSite {
  let server: Server | undefined
  let listening: Promise<string> | undefined

  async function listen(): Promise<string> {
    await start()
    server = createServer(app.messageClasses, app).listen(0, '127.0.0.1')
    server.on('upgrade', app.upgrade)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  return {
    origin: () => (listening ??= listen()),
    async close() {
      await listening?.catch(() => undefined)
      const closed = server && once(server, 'close')
      server?.close()
      server?.closeAllConnections()
      await closed
    },
  }
}

/** Lets the first request wait for `start` and for Redis, for which a server waits before it listens. */
function startFirst(app: MillraceApp, start: () => Promise<void>): void {
  const holder = app as unknown as { handle: Handle }
  const { handle } = holder
  holder.handle = (req, res, next) => {
    start().then(
      () => {
        holder.handle = handle
        handle.call(app, req, res, next)
      },
      (thrown: unknown) => {
        app.log.error({ err: thrown }, 'the application could not be started')
        res
          .writeHead(500, { 'Content-Type': 'text/plain' })
          .end(`The application could not be started: ${String(thrown)}\n`)
      },
    )
  }
}

type Handle = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void

interface Ending {
  readonly site: ListeningSite
  readonly folder: string | undefined
  isStarted(): Promise<boolean>
}

async function end(app: MillraceApp, { site, folder, isStarted }: Ending): Promise<void> {
  app.readiness.markDraining()
  await site.close()
  const isOrderly = await app.life.stop(AbortSignal.timeout(STOP_LIMIT_MS))
  app.dispose()
  if (folder !== undefined) {
    await rm(folder, { recursive: true, force: true })
    FOLDERS.delete(folder)
    if (FOLDERS.size === 0) process.off('exit', removeFolders)
  }
  if (!isOrderly && (await isStarted()))
    throw new Error(`The application's stop has failed, or takes longer than ${STOP_LIMIT_MS} ms: see logs.`)
}
