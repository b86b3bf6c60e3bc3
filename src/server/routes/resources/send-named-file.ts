import type { ReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, extname, join, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import type { Response as ExpressResponse } from 'express'
import type { NamedFile } from '../../api/send-file.ts'
import { dropBody, outlastsAnswer } from '../../http/body/drop-body.ts'
import { contentRisk, isScript } from '../../http/media-type.ts'
import { isSecure } from '../../http/trusted-proxy.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { addGivenHeaders, addVary } from '../../request/answer/answer-headers.ts'
import { keepLateCookiesPrivate } from '../../request/answer/late-cookies.ts'
import { headFault } from '../../request/answer/send.ts'
import { securityHeaders } from '../../request/answer/security-headers.ts'
import type { RequestContext } from '../../request/context.ts'
import { resourceCaching } from './resource-caching.ts'
import { sendFault } from './send-fault.ts'

/** A file below its folder. */
interface FoundFile {
  /** Without symbolic links. */
  readonly root: string
  readonly path: string
  readonly etag: string
}

/** No script of a file runs with the rights of the site: visitors may have uploaded it. */
const SANDBOX = `default-src 'none'; style-src 'unsafe-inline'; sandbox`
const POLICY = 'content-security-policy'

const MOST_NAME_CHARACTERS = 200 // file systems take 255 bytes, and proxies a header of a few kilobytes
const MOST_ENDING_CHARACTERS = 20

const NOT_FOUND = { status: 404, text: 'Not found' }
const REASONS: Readonly<Record<number, string>> = {
  412: 'The file has changed',
  416: 'The file has no such range',
}

/**
 * What may be a part of a path. An encoded slash of a URL is data: as a separator, it would lead to a folder whose guard has
 * not been asked.
 */
const PART = /^[^./\\][^/\\]*$/

/** Errors of a path that names no file. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/**
 * Sends a file by Express' `res.sendFile`, which knows ranges, conditions and `HEAD`, and closes the file when the client
 * leaves. Settles when the answer is over.
 */
export async function sendNamedFile(file: NamedFile, response: Response, context: RequestContext): Promise<void> {
  const res = context.res as ExpressResponse
  const found = await findFile(file)
  if (context.aborted !== undefined) return
  if (found === undefined) return sendFault(context, NOT_FOUND)
  const before = new Set(res.getHeaderNames())
  setHeaders(file, found, response, context)
  const fault = headFault(context)
  if (fault !== undefined) throw fault
  keepLateCookiesPrivate(context.res)
  if (outlastsAnswer(context.req)) res.shouldKeepAlive = false
  // RFC 9110, 14.2: a range is of GET alone.
  if (context.req.method === 'HEAD') delete context.req.headers.range
  res.once('pipe', (source: Readable) => endIfCut(source as ReadStream, context))
  const failure = await new Promise<unknown>((resolve) => {
    const { root, path } = found
    // A dot may be in the path of a symbolic link's target; the path that was asked for has been checked.
    res.sendFile(path, { root, dotfiles: 'allow', cacheControl: false, etag: false }, resolve)
  })
  if (!context.req.complete) dropBody(context.req, res)
  if (failure === undefined || res.headersSent || context.aborted !== undefined) return
  // `Content-Range` of a 416 says how long the file is.
  const kept = res.getHeader('content-range')
  for (const name of res.getHeaderNames()) if (!before.has(name)) res.removeHeader(name)
  const status = statusOf(failure)
  if (status === 404) return sendFault(context, NOT_FOUND)
  const text = REASONS[status]
  // Nothing of the error is sent: its message names folders of this machine.
  if (text !== undefined) {
    const extra = status === 416 && kept !== undefined ? ['Content-Range', String(kept)] : []
    return sendFault(context, { status, text }, extra)
  }
  throw failure
}

/** A file that becomes shorter while it is sent: the client would take the next answer for the rest of it. */
function endIfCut(source: ReadStream, { res, log, record: { route } }: RequestContext): void {
  source.prependListener('end', () => {
    if (source.bytesRead >= Number(res.getHeader('content-length') ?? 0)) return
    log.warn({ route }, 'a file became shorter while it was sent, so its connection is closed')
    res.destroy()
  })
}

/** @throws for a file that exists and cannot be read. */
async function findFile({ root, names }: NamedFile): Promise<FoundFile | undefined> {
  if (!names.every((name) => PART.test(name))) return undefined
  try {
    const folder = await realpath(root)
    const target = await realpath(join(folder, ...names))
    if (!target.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return undefined
    const found = await stat(target, { bigint: true })
    // A folder; or a pipe, whose reader waits for a writer.
    if (!found.isFile()) return undefined
    const etag = `"${[found.size, found.mtimeNs, found.ino].map((number) => number.toString(36)).join('-')}"`
    return { root: folder, path: relative(folder, target), etag }
  } catch (error) {
    if (error instanceof Error && 'code' in error && MISSING.has(String(error.code))) return undefined
    throw error
  }
}

/** As `send` does: headers that rules and middleware have set win. */
function setHeaders(
  { names, download = false, type }: NamedFile,
  { etag }: FoundFile,
  response: Response,
  context: RequestContext,
): void {
  const res = context.res as ExpressResponse
  const headers: HeaderList = [...resourceCaching(response, context), 'ETag', etag]
  for (const [name, value] of response.headers) if (name !== 'cache-control') headers.push(name, value)
  addGivenHeaders(headers, context)
  headers.push(...securityHeaders(isSecure(context.clientAddress), headers))
  const preset = new Set(res.getHeaderNames())
  for (let index = 0; index < headers.length; index += 2) {
    const [name = '', value = ''] = headers.slice(index, index + 2)
    const lower = name.toLowerCase()
    if (lower === 'vary') addVary(res, value)
    else if (lower === 'set-cookie') res.appendHeader(name, value)
    // Browsers enforce all policies of an answer.
    else if (lower === POLICY) res.appendHeader(name, value)
    else if (!preset.has(lower) && lower !== 'content-length') res.setHeader(name, value)
  }
  const name = names.at(-1) ?? ''
  const isUnclear = !res.hasHeader('content-type') && type?.includes('/') && contentRisk(type) === 'unclear'
  if (!res.hasHeader('content-type')) {
    res.type(isUnclear ? 'bin' : (type ?? name))
    // A page may allow scripts of this site, and no policy of a file is asked where it is one.
    if (isScript(String(res.getHeader('content-type')))) res.type('text/plain')
  }
  const kind = String(res.getHeader('content-type') ?? '')
  const risk = isUnclear ? 'unclear' : contentRisk(kind)
  if (download !== false || risk === 'unclear') {
    res.attachment(typeof download === 'string' ? offeredName(basename(download)) : name)
    // `attachment` guesses the type by the offered name.
    res.setHeader('content-type', risk === 'unclear' ? 'application/octet-stream' : kind)
  } else if (risk === 'active' && !response.headers.has(POLICY)) {
    // That of a guard, a rule or a host means pages: it may say nothing of scripts.
    res.appendHeader(POLICY, SANDBOX)
  }
}

/** A long name keeps its ending, by which systems choose the program. */
function offeredName(name: string): string {
  const ending = extname(name).slice(0, MOST_ENDING_CHARACTERS)
  const isLong = name.length > MOST_NAME_CHARACTERS
  const offered = isLong ? `${name.slice(0, MOST_NAME_CHARACTERS - ending.length)}${ending}` : name
  return offered.toWellFormed() // half a character cannot be encoded
}

function statusOf(failure: unknown): number {
  const { status, code } = failure as { readonly status?: unknown; readonly code?: unknown }
  if (code === 'EISDIR') return 404
  return typeof status === 'number' ? status : 500
}
