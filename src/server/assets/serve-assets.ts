import { readdirSync } from 'node:fs'
import type { Response } from 'express'
import { sendText } from '../render/send-plain.ts'
import { securityHeaders } from '../render/security-headers.ts'
import type { RequestContext } from '../request/context.ts'
import { ENCODING_SUFFIX, ENCODINGS, negotiateEncoding, type Encoding } from './content-encoding.ts'

interface AssetFile {
  readonly name: string
  readonly encodings: readonly Encoding[]
}

const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * Serves the build's hashed files. The folder is listed once: a name that is not on the list is no file, whatever its
 * spelling, so no path is ever made from a request.
 * @param folder absolute path of the build's public folder; without one there are no files.
 */
export function serveAssets(folder: string | undefined): (context: RequestContext) => void {
  const files = folder === undefined ? new Map<string, AssetFile>() : listFiles(folder)
  return (context) => {
    const { req } = context
    const res = context.res as Response
    const file = files.get(context.pathname.slice('/_m/assets/'.length))
    if (file === undefined || folder === undefined || context.namesNothing)
      return sendText(context, 404, 'No such file')
    const encoding = negotiateEncoding(req.headers['accept-encoding'] as string | undefined, file.encodings)
    const headers = securityHeaders(context.provenance.protocol === 'https')
    for (let index = 0; index < headers.length; index += 2)
      res.setHeader(headers[index] ?? '', headers[index + 1] ?? '')
    res.type(file.name)
    res.setHeader('Vary', 'Accept-Encoding')
    res.setHeader('Cache-Control', IMMUTABLE)
    // The name is a hash of the content: equal on every instance, unlike time stamps.
    res.setHeader('ETag', `"${file.name}${encoding === undefined ? '' : ENCODING_SUFFIX[encoding]}"`)
    if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
    const name = encoding === undefined ? file.name : file.name + ENCODING_SUFFIX[encoding]
    res.sendFile(name, { root: folder, cacheControl: false, lastModified: false, etag: false }, (error) => {
      if (error === undefined || res.headersSent) return
      for (const header of ['Cache-Control', 'ETag', 'Content-Encoding', 'Content-Type']) res.removeHeader(header)
      const status = 'status' in error && typeof error.status === 'number' ? error.status : 500
      sendText(context, status, status < 500 ? error.message : 'This file cannot be read')
    })
  }
}

function listFiles(folder: string): ReadonlyMap<string, AssetFile> {
  const names = new Set(readNames(folder))
  const suffixes = Object.values(ENCODING_SUFFIX)
  const files = new Map<string, AssetFile>()
  for (const name of names) {
    const original = suffixes.find((suffix) => name.endsWith(suffix))
    if (original !== undefined && names.has(name.slice(0, -original.length))) continue
    files.set(name, { name, encodings: ENCODINGS.filter((encoding) => names.has(name + ENCODING_SUFFIX[encoding])) })
  }
  return files
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
