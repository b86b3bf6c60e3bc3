/**
 * Writes every page that a stranger can ask for as a file. The application itself answers, in this process; nothing is
 * rendered in another way. Memory holds the names of the files and the links between them; documents pass through.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { basePath, isUnderBasePath, withBasePath, withoutBasePath } from '../../shared/base-path.ts'
import { HYDRATION_DATA_ELEMENT_ID } from '../../shared/protocol/hydration-data.ts'
import { ROUTE_DATA_PREFIX, SEGMENTS_PARAM, type RouteDataHead } from '../../shared/protocol/route-data.ts'
import { parsePattern } from '../../shared/route-pattern.ts'
import type { AppDefinition } from '../api/define-app.ts'
import type { MillraceApp } from '../app.ts'
import type { AssetManifest } from '../assets/manifest.ts'
import { constantPage } from '../request/answer/constant-page.ts'
import { linksOf, pathsOf } from './document-links.ts'
import { ExportError } from './export-error.ts'
import type { ExportReport } from './export-outcome.ts'
import { FileNames, nameOf, placeOfPage, type PagePlace } from './file-names.ts'
import { dataOfDocument, fileOfDocument, fileOfRedirect } from './page-file.ts'
import { openSiteClient, type SiteAnswer, type SiteClient } from './site-client.ts'
import { openSiteFolder, type SiteFolder } from './site-folder.ts'
import { sitePaths, type ExportFault, type SitePath } from './site-paths.ts'

/** What is exported, and to where. */
export interface ExportOptions {
  /** Made with `forFiles`, and started. */
  readonly app: MillraceApp
  readonly definition: AppDefinition
  readonly manifest: AssetManifest
  /** Absolute path of the build's files for browsers; `undefined` without a build. */
  readonly assets: string | undefined
  /** Under which strangers ask: one of `ORIGIN`. */
  readonly host: string
  /** Absolute path. */
  readonly folder: string
  /** Leave out what cannot be a file, instead of stopping. */
  readonly isPartial: boolean
  /** Called from time to time. */
  readonly onProgress: (pages: number) => void
}

const AT_ONCE = 8 // pages; loaders mostly wait
const MISSING_PAGE = '/%2e/404' // no route answers dot segments, not even one that takes any path

/**
 * Exports an application.
 * @throws {ExportError} for everything that cannot be a file, unless `isPartial`, and for links that lead nowhere;
 * {FolderFault}. The folder is as before then.
 */
export async function exportApplication(options: ExportOptions): Promise<ExportReport> {
  const folder = await openSiteFolder(options.folder)
  try {
    await using client = await openSiteClient(options.app, options.host, AT_ONCE)
    const site = new SiteExport(options, client, folder)
    await site.writePages()
    if (site.faults.length > 0 && !options.isPartial) throw new ExportError('unfit', site.faults)
    await site.writeOthers()
    const dead = await site.followLinks()
    if (dead.length > 0) throw new ExportError('dead-links', dead)
    await folder.publish(site.names.all)
    return { pages: site.pages, files: site.names.all.length, leftOut: site.faults }
  } catch (thrown) {
    await folder.discard()
    throw thrown
  }
}

/** Status of pages that cannot be files; see `createFilePages`. */
const NOT_A_FILE = 501

/** In each document that an application renders. */
const HYDRATION_MARK = `id="${HYDRATION_DATA_ELEMENT_ID}"`

/** An export in progress. */
class SiteExport {
  readonly names = new FileNames()
  readonly faults: ExportFault[] = []
  pages = 0
  readonly #options: ExportOptions
  readonly #client: SiteClient
  readonly #folder: SiteFolder
  /** Public paths to which documents lead, each with the first document. Bound: the links of the site. */
  readonly #links = new Map<string, string>()
  /** Patterns and paths. */
  readonly #leftOut = new Set<string>()
  /** Names of paths that have been left out. Nobody else has them until all paths are known. */
  readonly #unwritten: string[] = []

  constructor(options: ExportOptions, client: SiteClient, folder: SiteFolder) {
    this.#options = options
    this.#client = client
    this.#folder = folder
  }

  async writePages(): Promise<void> {
    const { definition, manifest, onProgress } = this.#options
    const facts = { definition, actionSegments: manifest.actionSegments ?? [] }
    const paths = sitePaths(facts, (fault) => this.#leave(fault))
    const work = async (): Promise<void> => {
      for (;;) {
        const { done, value } = await paths.next()
        if (done === true) return
        const reason = await this.#writePath(value).catch(reasonOfError)
        if (reason !== undefined) {
          const { path, what } = value
          this.#leftOut.add(path)
          this.#leave({ what: path === what ? path : `${path} (${what})`, reason })
        }
        onProgress(this.pages)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    this.names.give(...this.#unwritten)
    // Their order depends on who was ready first.
    this.faults.sort((a, b) => (a.what < b.what ? -1 : 1))
  }

  /** The files that belong to no page. */
  async writeOthers(): Promise<void> {
    const { assets, manifest } = this.#options
    await this.#write('404.html', await this.#missingPage())
    // GitHub Pages would leave out what begins with an underscore.
    await this.#write('.nojekyll', '')
    await this.#write('_m/build.json', JSON.stringify({ buildId: manifest.buildId }))
    if (assets === undefined) return
    for (const name of await readdir(assets)) await this.#write(`_m/assets/${name}`, await readFile(join(assets, name)))
  }

  /** @returns what leads nowhere. */
  async followLinks(): Promise<readonly ExportFault[]> {
    const { isPartial, manifest } = this.#options
    const stub = await dataOfDocument(manifest.buildId)
    const dead: ExportFault[] = []
    for (const [path, page] of this.#links) {
      if (!isUnderBasePath(path) || this.#answers(path)) continue
      const own = withoutBasePath(path)
      const place = placeOfPage(own)
      if (!isPartial || !(await this.#isLeftOut(own)))
        dead.push({ what: path, reason: `a link on ${page} leads there` })
      // The browser's router need not ask in vain.
      else if (!('fault' in place) && this.names.take(place.data) === undefined) {
        await this.#folder.write(place.data, stub)
      }
    }
    return dead
  }

  #leave(fault: ExportFault): void {
    this.#leftOut.add(fault.what)
    this.faults.push(fault)
  }

  /** Takes the names of a path before anything is waited for: of two paths with one name, the one listed first has it. */
  async #writePath({ path, kind }: SitePath): Promise<string | undefined> {
    const place = kind === 'page' ? placeOfPage(path) : nameOf(path)
    if (typeof place !== 'string' && 'fault' in place) return place.fault
    const names = typeof place === 'string' ? [place] : [place.file, place.data]
    const taken = this.names.take(...names)
    if (taken !== undefined) return taken
    let isWritten = false
    try {
      const reason = await (typeof place === 'string' ? this.#writeAnswer(path, place) : this.#writePage(path, place))
      isWritten = reason === undefined
      return reason
    } finally {
      if (!isWritten) this.#unwritten.push(...names)
    }
  }

  async #writePage(path: string, place: PagePlace): Promise<string | undefined> {
    const answer = await this.#client.get(path)
    const fault = faultOf(answer)
    if (fault !== undefined) return fault
    const { headers, status } = answer
    const isPage = status === 200
    if (isPage && !String(headers['content-type']).startsWith('text/html')) return 'its answer is not HTML'
    const data = await this.#dataOf(path)
    if (data === undefined) return 'its data is not complete: the log says why'
    const policy = textOf(headers['content-security-policy'])
    const file = isPage ? fileOfDocument(answer.body.toString(), policy, true) : fileOfRedirect(headers.location ?? '')
    await this.#folder.write(place.file, file)
    await this.#folder.write(place.data, data)
    this.#noteLinks(path, file)
    this.pages += 1
    return undefined
  }

  /** @returns `undefined` if the answer has been cut off. */
  async #dataOf(path: string): Promise<string | undefined> {
    const { body, status } = await this.#client.get(ROUTE_DATA_PREFIX + path)
    const text = body.toString()
    return status === 200 && text.endsWith('{"done":true}\n') ? text : undefined
  }

  /** The answer of a handler. */
  async #writeAnswer(path: string, name: string): Promise<string | undefined> {
    const answer = await this.#client.get(path)
    const fault = faultOf(answer) ?? (answer.status === 200 ? undefined : `its answer is ${answer.status}`)
    if (fault === undefined) await this.#folder.write(name, answer.body)
    return fault
  }

  async #write(name: string, contents: string | Uint8Array): Promise<void> {
    const taken = this.names.takeOwn(name)
    if (taken !== undefined) throw new ExportError('unfit', [{ what: name, reason: taken }])
    await this.#folder.write(name, contents)
  }

  /** Notes to what a document leads. @param path of the table. */
  #noteLinks(path: string, html: string): void {
    const page = withBasePath(path)
    for (const link of linksOf(html)) {
      for (const target of pathsOf(link, page)) if (!this.#links.has(target)) this.#links.set(target, page)
    }
  }

  /** Whether a server of files has something for a public path. */
  #answers(path: string): boolean {
    const name = nameOf(path.slice(basePath().length).replace(/\/$/, '') || '/')
    if (typeof name !== 'string') return false
    return name === '' ? this.names.has('index.html') : this.names.has(name) || this.names.has(`${name}/index.html`)
  }

  /** Whether the application has an answer for a path, of something that has been left out. */
  async #isLeftOut(path: string): Promise<boolean> {
    const { body, status } = await this.#client.get(`${ROUTE_DATA_PREFIX}${path}?${SEGMENTS_PARAM}=`)
    const pattern = patternOf(body.toString())
    if (pattern === undefined) return status < 400
    return pattern !== null && (this.#leftOut.has(path) || this.#leftOut.has(pattern))
  }

  /** The page for paths that no route answers. An application may answer all of them. */
  async #missingPage(): Promise<string> {
    const { body, headers, status } = await this.#client.get(MISSING_PAGE)
    if (status === 404) {
      const html = body.toString()
      // The runtime's own page leads to the start page, whether there is one or not.
      if (html.includes(HYDRATION_MARK)) this.#noteLinks('/', html)
      return fileOfDocument(html, textOf(headers['content-security-policy']), false)
    }
    const fault = { what: 'the page for missing paths', reason: faultOf({ body, headers, status }) ?? `${status}` }
    if (status === NOT_A_FILE && !this.#options.isPartial) throw new ExportError('unfit', [fault])
    if (status === NOT_A_FILE) this.faults.push(fault)
    return constantPage({ status: 404 })
  }
}

/** The pattern in an answer with data; `undefined` if that has none, or is of middleware, which may answer anything. */
function patternOf(text: string): string | null | undefined {
  try {
    const { route } = JSON.parse(text.split('\n', 1)[0] ?? '') as Partial<RouteDataHead>
    if (typeof route === 'string') return parsePattern(route).url
    return route === null ? null : undefined
  } catch {
    return undefined
  }
}

/** Why an answer cannot be a file. */
function faultOf({ headers, status }: SiteAnswer): string | undefined {
  if (headers['set-cookie'] !== undefined) return 'its answer sets a cookie'
  const reads = /detail="([^"]*)"/.exec(String(headers['cache-status']))?.[1]
  if (status === NOT_A_FILE && reads !== undefined) return reasonOf(reads)
  if (status >= 400) return `its answer is ${status}`
  return status === 200 || headers.location !== undefined ? undefined : `its answer is ${status}`
}

/** What concerns one page alone. A full disk concerns all. */
const OF_ONE = /^(?:ENAMETOOLONG|EINVAL|ECONNRESET|EPIPE|HPE_\w+)$/

/** @throws what was thrown, unless it concerns one page. */
function reasonOfError(thrown: unknown): string {
  if (!(thrown instanceof Error && OF_ONE.test((thrown as NodeJS.ErrnoException).code ?? ''))) throw thrown
  return `it cannot be asked for or written: ${thrown.message.replace(/, \w+ '.*$/s, '')}`
}

/** @param reads as in `Cache-Status`. */
function reasonOf(reads: string): string {
  if (reads === 'search params')
    return 'it depends on the query: the page, its loader or its handler reads search params'
  if (/^(?:private|no-store)$/.test(reads)) return `its answer says Cache-Control: ${reads}`
  if (reads === 'request.url') return 'it reads request.url: set ORIGIN, and make absolute URLs of context.origin'
  if (reads === 'event stream') return 'its answer is an event stream'
  if (reads === 'failed') return 'a part of it has failed: the log says why'
  return `it reads or sets something of its visitor: ${reads}`
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value.join('; ') : value
}
