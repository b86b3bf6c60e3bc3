/** An Express 5 server that exists, with a session and parsers of its own, and a built application mounted in it. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import express, { type Express, type RequestHandler } from 'express'
import { parseCookie } from 'cookie'
import { onTestFinished } from 'vitest'
import { millrace, type EmbeddedApp, type MillraceOptions } from '../../src/server/api/millrace.ts'
import { buildFixture } from './build-fixture.ts'
import { makeTempDir } from './temp-dir.ts'

/** A build of tests/fixtures/shop-app. */
export interface ShopBuild extends AsyncDisposable {
  /** The build's folder. */
  readonly dist: URL
  /** A folder for its stores. */
  readonly dataDir: string
}

/**
 * Builds the application.
 * @param edition `bare` has no middleware.
 */
export async function buildShop(basePath: string, edition = 'full'): Promise<ShopBuild> {
  const temp = await makeTempDir('shop')
  const dist = await buildFixture('shop-app', temp, { basePath, env: { PUBLIC_EDITION: edition } })
  return {
    dist: pathToFileURL(`${dist}/`),
    dataDir: join(temp.path, 'data'),
    [Symbol.asyncDispose]: () => temp.remove(),
  }
}

interface HostSession {
  user?: string
}

/** A session as hosts have it: an id in a cookie, its data in memory, on `req.session`. */
export function hostSession(): RequestHandler {
  const sessions = new Map<string, HostSession>()
  return (req, res, next) => {
    const { sid = randomUUID() } = parseCookie(req.headers.cookie ?? '')
    const session = sessions.get(sid) ?? {}
    sessions.set(sid, session)
    res.cookie('sid', sid, { httpOnly: true })
    Object.assign(req, { session })
    next()
  }
}

/** What stands in front of the application in a host: its session, a way to sign in, and a parser. */
export function hostApp(): Express {
  const host = express()
  host.use(hostSession(), express.urlencoded({ extended: true }))
  host.post('/host/sign-in', (req, res) => {
    Object.assign((req as unknown as { session: HostSession }).session, { user: (req.body as HostSession).user })
    res.redirect(303, '/shop')
  })
  host.get('/host', (_req, res) => void res.send('<!doctype html><title>Host</title><h1>Host</h1>'))
  return host
}

/** What stands behind it: tells which URL the host has. */
export function endOfHost(host: Express): void {
  host.use((req, res) => {
    const { baseUrl, url, originalUrl } = req
    res.status(404).json({ host: { baseUrl, url, originalUrl, session: 'session' in req } })
  })
}

/** A build as middleware, until the test is over. */
export async function embedded(build: ShopBuild, options: Partial<MillraceOptions> = {}): Promise<EmbeddedApp> {
  const { env, ...rest } = options
  const app = await millrace({
    dist: build.dist,
    ...rest,
    env: { LOG_LEVEL: 'silent', DATA_DIR: build.dataDir, ...env },
  })
  onTestFinished(async () => void (await app.stop()))
  return app
}

/** A server on a free port, until the test is over. */
export async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { server, port, origin: `http://127.0.0.1:${port}` }
}

/** What `endOfHost` says of a URL that has come through unchanged. */
export const passedOn = (url: string) => ({ host: { baseUrl: '', url, originalUrl: url, session: true } })
