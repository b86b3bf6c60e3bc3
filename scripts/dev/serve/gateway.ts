import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { DEV_BUILD_TIMING, DEV_EVENTS_PATH, DEV_SETTLED_PATH } from '../../../src/client/dev/dev-messages.ts'
import { encodeSegmentFiles, segmentFilesPath } from '../../../src/shared/protocol/segment-files.ts'
import type { AssetManifest } from '../../../src/server/assets/manifest.ts'
import { PUBLIC_PATH } from '../../build/build-options.ts'
import { shortHash } from '../../build/content-hash.ts'
import type { Certificate } from './certificate.ts'
import { DEV_BUILD_ID } from '../compile/dev-manifest.ts'
import { failureText, startFailure } from '../tell/dev-failures.ts'
import { forward, forwardUpgrade, type ReplaceAnswer } from './forward.ts'
import { isAllowedHost, type AllowedHosts } from '../process/local-hosts.ts'
import { isFromOther } from './own-page.ts'
import { answerPage, isPageRequest, type PageAnswers } from './page-requests.ts'
import { DEV_ENTRY, type ModuleServer, type ServedFile } from '../compile/module-server.ts'
import { ServerStartError } from '../process/server-process.ts'
import type { DevChannel } from '../tell/dev-channel.ts'
import { OPENER_POLICY, preformatted, TEXT_STYLE, waitingDocuments } from './waiting-documents.ts'

/** Parts behind the gateway. */
export interface GatewayParts extends PageAnswers {
  readonly hosts: AllowedHosts
  /** For https. Default: http. */
  readonly certificate?: Pick<Certificate, 'cert' | 'key'> | undefined
  readonly channel: DevChannel
  readonly modules: ModuleServer
  /** The current manifest of pages; `undefined` before the first build. */
  manifest(): Pick<AssetManifest, 'segments'> | undefined
  /** Resolves when the first build is done, or its failure is known. */
  readonly built: Promise<void>
  /** Resolves when saved files have been applied, or their failure is known. */
  settled(): Promise<void>
  /** The port of the application's server, once it listens. */
  port(): Promise<number>
  /** URL of the development server's script for pages, with the base path. */
  devClient(): string
  /** Called for unexpected errors. */
  onDefect(error: unknown): void
}

/** The server for browsers. */
interface Gateway {
  readonly server: ReturnType<typeof createServer | typeof createSecureServer>
  /** Ends all connections; documents that browsers wait for load themselves again. */
  close(): Promise<void>
}

const SEGMENT_FILES = segmentFilesPath(DEV_BUILD_ID)

/**
 * The one port for browsers: modules and events are answered here, everything else by the application's server.
 * Requests wait while that is being replaced.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const documents = waitingDocuments(() => parts.modules.urls.publicPath(DEV_SETTLED_PATH))
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    documents.add(request, response)
    answer(parts, request, response).catch((error: unknown) => {
      parts.onDefect(error)
      if (!response.headersSent) response.writeHead(500).end()
      response.destroy()
    })
  }
  const { certificate } = parts
  const server = certificate === undefined ? createServer(listener) : createSecureServer(certificate, listener)
  server.on('upgrade', (request, socket, head) => {
    // Node handles a reset no longer; it may come while this waits for the build.
    socket.on('error', () => socket.destroy())
    if (!isAllowedHost(request.headers.host, parts.hosts) || isFromOther(request.headers)) return void socket.destroy()
    return void parts.built
      .then(parts.port)
      .then((port) => forwardUpgrade(request, socket, head, port))
      .catch(() => socket.destroy())
  })
  return {
    server,
    async close() {
      server.close()
      await documents.answer()
      server.closeAllConnections()
    },
  }
}

async function answer(parts: GatewayParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isAllowedHost(request.headers.host, parts.hosts)) {
    response.writeHead(403, { 'Content-Type': 'text/plain' })
    response.end(
      'The development server answers under host names of this machine, such as localhost, ' +
        'and under those of its option --allow-host <name>.\n',
    )
    return
  }
  const path = parts.modules.urls.ownPath(URL.parse(request.url ?? '/', 'http://localhost')?.pathname ?? '') ?? ''
  const isOwn = path === DEV_EVENTS_PATH || path === DEV_SETTLED_PATH || isPageRequest(path)
  if (!isOwn && !path.startsWith(PUBLIC_PATH)) return answerByApplication(parts, request, response)
  if (isFromOther(request.headers)) {
    response.writeHead(403, { 'Content-Type': 'text/plain' })
    response.end('The development server serves this to its own pages only.\n')
    return
  }
  // For browsers that do not tell which page makes the request.
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  if (path === DEV_EVENTS_PATH) parts.channel.join(response, pathsOfPage(parts, request.headers.referer))
  else if (path === DEV_SETTLED_PATH) await answerSettled(parts, response)
  else if (isPageRequest(path)) await answerPage(parts, path, request, response)
  else if (path === SEGMENT_FILES) answerSegmentFiles(parts, response)
  else {
    await parts.built
    await answerFile(parts, path, request, response)
  }
}

function pathsOfPage({ modules }: GatewayParts, referer = ''): string[] {
  const path = URL.parse(referer)?.pathname
  return path === undefined ? [] : [path, modules.urls.ownPath(path) ?? path]
}

/**
 * A page that reloads asks here first: the server may restart before it answers, and the browser would show its own error. It
 * stays if there is no application to answer.
 */
async function answerSettled({ settled, channel, port }: GatewayParts, response: ServerResponse): Promise<void> {
  await settled()
  const isServed = channel.failures.length === 0 && (await port().then(Boolean, () => false))
  response.writeHead(isServed ? 204 : 502, { 'Cache-Control': 'no-store' }).end()
}

/** Computed each time: the URLs of modules change. */
function answerSegmentFiles({ manifest }: GatewayParts, response: ServerResponse): void {
  const segments = manifest()?.segments
  if (segments === undefined) return void response.writeHead(404, { 'Cache-Control': 'no-store' }).end()
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' })
  response.end(JSON.stringify(encodeSegmentFiles(segments)))
}

/** A page that loads again asks for all its modules: what the browser has is not sent again. */
async function answerFile(
  { modules }: GatewayParts,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const file: ServedFile | undefined = await modules.load(path).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    return { type: 'text/javascript; charset=utf-8', contents: `throw new Error(${JSON.stringify(reason)})` }
  })
  if (file === undefined) {
    response.writeHead(404, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' }).end()
    return
  }
  const { type, contents, immutable = false } = file
  if (immutable) {
    response
      .writeHead(200, { 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' })
      .end(contents)
    return
  }
  const etag = `"${shortHash(contents)}"`
  response.setHeader('Cache-Control', 'no-cache').setHeader('ETag', etag)
  if (request.headers['if-none-match'] === etag) response.writeHead(304).end()
  else response.writeHead(200, { 'Content-Type': type }).end(contents)
}

async function answerByApplication(
  { channel, settled, port, devClient }: GatewayParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await settled() // a page that is loaded after a save shows it
  const timing = (): string => `${DEV_BUILD_TIMING};desc="${channel.build}"`
  const fail = (status: number, reason: string): void => {
    if (response.headersSent) return void response.destroy()
    response.writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Server-Timing': timing(),
      ...OPENER_POLICY,
    })
    response.end(failurePage(devClient(), reason))
  }
  if (channel.failures.length > 0 && request.headers['sec-fetch-dest'] === 'document') {
    return fail(500, channel.failures.map(failureText).join('\n\n'))
  }
  try {
    // A failed document without scripts could not show its cause.
    const replace: ReplaceAnswer = (_status, _headers, body) =>
      body.includes(DEV_ENTRY) ? undefined : failurePage(devClient(), 'The terminal says how.')
    await forward(request, response, { port: await port(), timing: timing(), replace })
  } catch (error) {
    const reason = error instanceof ServerStartError ? startFailure(error).message : undefined
    if (!response.destroyed) fail(502, reason ?? 'The server of the application has ended.')
  }
}

/**
 * A document for when the application cannot render one: its scripts show the failure with its source, and wait for the next
 * successful build.
 * @param devClient URL of the development server's script for pages.
 * @param reason shown without scripts too, and as long as the failure lasts.
 */
function failurePage(devClient: string, reason: string): string {
  return `<!doctype html>
<html lang="en" data-millrace-failed>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Development server: failed</title>
${TEXT_STYLE}
<script type="module" src="${devClient}"></script>
</head>
<body>
<p>The application has failed. This page reloads when it is fixed.</p>
${preformatted(reason)}
</body>
</html>
`
}
