/**
 * Browser tests of single modules: a module of the client is bundled as it is, and put into small pages that a test
 * writes down, on a server of the test's own.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { createDocumentPolicies } from '../../src/server/routes/render/document-policy.ts'
import { browserTest } from './browser.ts'

const PROJECT = resolve(import.meta.dirname, '../..')
const IMMUTABLE = 'public, max-age=31536000, immutable' // as a build's files; each test has a cache of its own
const ENTRY = '/m/stdin.js'

/** The nonce that scripts of these pages run by. */
export const NONCE = 'bm9uY2U'

/** What a site is made of. */
interface ModuleSiteOptions {
  /** TypeScript or TSX; imports are relative to the project's folder. Runs at the end of every page. */
  readonly script: string
  /** What stands in the body of a page, by path; `*` for all others. Without one, a path is 404. */
  readonly pages: Readonly<Record<string, string>>
  /** Further elements of every head. */
  readonly head?: string
  /** Contents by path: stylesheets and scripts. */
  readonly files?: Readonly<Record<string, string>>
  /** Content-Security-Policy of the pages; that of real documents unless told. */
  readonly policy?: string
  /** Answers before everything else, if it wants to; says so by `true`. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** A running site. */
export interface ModuleSite {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  /** Paths that have been asked for, with their query, in order. */
  readonly requests: readonly string[]
}

/** Serves pages around a bundled module until the test has finished. */
export async function serveModule(options: ModuleSiteOptions): Promise<ModuleSite> {
  const scripts = await bundle(options.script)
  const requests: string[] = []
  const server = createServer((request, response) => {
    const url = request.url ?? '/'
    requests.push(url)
    if (options.answer?.(request, response) === true) return
    const { pathname } = new URL(url, 'http://127.0.0.1')
    const file = scripts.get(pathname) ?? options.files?.[pathname]
    const body = options.pages[pathname] ?? (pathname.includes('.') ? undefined : options.pages['*'])
    response.setHeader('Cache-Control', 'no-cache')
    if (file !== undefined) {
      response.setHeader('Cache-Control', IMMUTABLE)
      response.setHeader('Content-Type', pathname.endsWith('.css') ? 'text/css' : 'text/javascript')
      response.end(file)
    } else if (body === undefined) response.writeHead(404, { 'Content-Type': 'text/plain' }).end('No such page')
    else {
      response.setHeader('Content-Type', 'text/html; charset=utf-8')
      response.setHeader(
        'Content-Security-Policy',
        options.policy ?? createDocumentPolicies({ inline: [] }, false).withNonce(NONCE),
      )
      response.end(pageAround(body, options.head))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

function pageAround(body: string, head = ''): string {
  if (body.startsWith('<html')) return `<!DOCTYPE html>${body.replace('</head>', `${scriptTag()}</head>`)}`
  const title = head.includes('<title>') ? '' : '<title>Page</title>'
  const standard = `<meta charset="utf-8">${title}<link rel="icon" href="data:,">`
  return `<!DOCTYPE html><html lang="en"><head>${standard}${head}</head><body>${body}${scriptTag()}</body></html>`
}

function scriptTag(): string {
  return `<script type="module" src="${ENTRY}" nonce="${NONCE}"></script>`
}

async function bundle(script: string): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: PROJECT, loader: 'tsx' },
    bundle: true,
    splitting: true,
    write: false,
    outdir: '/m',
    format: 'esm',
    jsx: 'automatic',
    conditions: ['millrace-source', 'module'],
    target: 'chrome111',
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'silent',
  })
  return new Map(outputFiles.map(({ path, text }) => [`/m/${basename(path)}`, text]))
}

/** Waits until an expression is true in a page; `waitForFunction` needs a policy that lets strings be run. */
export async function until(page: Page, expression: string): Promise<void> {
  await expect.poll(() => page.evaluate(`Boolean(${expression})`), { message: expression }).toBe(true)
}

/** `browserTest` for pages of `serveModule`, whose URLs are absolute. The server is the one of all tests in the worker. */
export const moduleTest = browserTest
