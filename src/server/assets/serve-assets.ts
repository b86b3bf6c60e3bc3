import { readdirSync } from 'node:fs'
import type { Response } from 'express'
import { addVary, setsCookie } from '../request/answer/answer-headers.ts'
import { keepLateCookiesPrivate } from '../request/answer/late-cookies.ts'
import { sendText } from '../request/answer/send-plain.ts'
import { addSecurityHeaders } from '../request/answer/security-headers.ts'
import type { RequestContext } from '../request/context.ts'
import { isSecure } from '../http/trusted-proxy.ts'
import { ENCODING_SUFFIX, negotiateEncoding } from '../http/content-encoding.ts'
import { isAssetName } from './kept-builds.ts'
import { listForms, type AssetFile, type KeptFiles } from './kept-files.ts'

const PREFIX = '/_m/assets/'
const IMMUTABLE = 'max-age=31536000, immutable'

/**
 * Serves the build's hashed files. The folder is listed once, and only listed names exist, in exactly that spelling, so
 * no path is ever built from a request. Files of former builds are the fallback.
 * @param folder absolute path of the build's public folder; without one there are no files.
 */
export function serveAssets(folder: string | undefined, kept?: KeptFiles): (context: RequestContext) => void {
  const files = folder === undefined ? new Map<string, AssetFile>() : listForms(readNames(folder), folder)
  return (context) => {
    const name = context.pathname.slice(PREFIX.length)
    const file = context.hasDotSegments ? undefined : files.get(name)
    if (file !== undefined) return sendAsset(context, file, kept)
    if (kept === undefined || context.hasDotSegments || !isAssetName(name)) return sendMissing(context)
    void sendKept(context, name, kept)
  }
}

async function sendKept(context: RequestContext, name: string, kept: KeptFiles, missing?: AssetFile): Promise<void> {
  const file = await kept.find(name, missing)
  if (file === undefined) sendMissing(context)
  // No second lookup.
  else sendAsset(context, file)
}

function sendMissing(context: RequestContext): void {
  sendText(context, 404, 'No such file')
}

function sendAsset(context: RequestContext, file: AssetFile, kept?: KeptFiles): void {
  const { req } = context
  const res = context.res as Response
  const encoding = negotiateEncoding(req.headers['accept-encoding'] as string | undefined, file.encodings)
  addSecurityHeaders(res, isSecure(context.clientAddress))
  res.type(file.name)
  addVary(res, 'Accept-Encoding')
  // A host may add the cookie of its session to every answer.
  res.setHeader('Cache-Control', `${setsCookie(context) ? 'private' : 'public'}, ${IMMUTABLE}`)
  keepLateCookiesPrivate(res)
  // The name is a hash of the content: equal on every instance, unlike time stamps.
  res.setHeader('ETag', `"${file.name}${encoding === undefined ? '' : ENCODING_SUFFIX[encoding]}"`)
  if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
  const name = encoding === undefined ? file.name : file.name + ENCODING_SUFFIX[encoding]
  // RFC 9110, 14.2: a range is of GET alone.
  if (req.method === 'HEAD') delete req.headers.range
  res.sendFile(name, { root: file.root, cacheControl: false, lastModified: false, etag: false }, (error) => {
    if (error === undefined || res.headersSent) return
    for (const header of ['Cache-Control', 'ETag', 'Content-Encoding', 'Content-Type']) res.removeHeader(header)
    const status = 'status' in error && typeof error.status === 'number' ? error.status : 500
    // Another build has replaced this one, and keeps its files.
    if (status === 404 && kept !== undefined) return void sendKept(context, file.name, kept, file)
    if (status === 404) return sendMissing(context)
    // The error's message names folders of this machine.
    sendText(context, status, REASONS[status] ?? 'This file cannot be read')
  })
}

const REASONS: Readonly<Record<number, string>> = {
  412: 'The file has changed',
  416: 'The file has no such range',
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
