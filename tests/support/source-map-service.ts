/**
 * Stands in for the error service's interface for source maps: takes pieces and puts bundles together as it does, checks
 * every hash, and reads the archive by its directory.
 */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32, inflateRawSync } from 'node:zlib'
import { onTestFinished } from 'vitest'

/** An answer in the place of the usual one. */
interface ScriptedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What happens, and what has come. */
interface SourceMapService {
  readonly url: string
  /** `<method> <path>` of each request. */
  readonly requests: readonly string[]
  /** `Authorization` of each request. */
  readonly tokens: readonly (string | undefined)[]
  /** The body of the last request to put a bundle together. */
  readonly assembly: () => Readonly<Record<string, unknown>>
  /** Files of the bundle, by path, once it is complete. */
  readonly files: () => ReadonlyMap<string, Buffer>
}

/** How the service behaves. */
export interface ServiceOptions {
  /** Says something else. */
  readonly script?: (request: string) => ScriptedAnswer | undefined
}

const ORGANIZATION = '/api/0/organizations/mills'

/** Starts one; it ends with the test. */
export async function startSourceMapService(options: ServiceOptions = {}): Promise<SourceMapService> {
  const requests: string[] = []
  const tokens: (string | undefined)[] = []
  const pieces = new Map<string, Buffer>()
  const state = { assembly: {} as Record<string, unknown>, bundle: Buffer.alloc(0) }
  const service: SourceMapService = {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    requests,
    tokens,
    assembly: () => state.assembly,
    files: () => readBundle(state.bundle),
  }

  async function usual(request: string, body: Buffer, contentType: string): Promise<ScriptedAnswer> {
    switch (request) {
      case `GET ${ORGANIZATION}/chunk-upload/`:
        return json({
          url: `${service.url}${ORGANIZATION}/chunk-upload/`,
          chunkSize: 8_388_608,
          chunksPerRequest: 64,
          maxRequestSize: 33_554_432,
          hashAlgorithm: 'sha1',
          concurrency: 8,
          compression: [],
          accept: ['release_files', 'artifact_bundles', 'artifact_bundles_v2'],
        })
      case `POST ${ORGANIZATION}/chunk-upload/`: {
        const form = await new Response(new Uint8Array(body), { headers: { 'Content-Type': contentType } }).formData()
        const sent = form.getAll('file') as File[]
        for (const piece of sent) {
          const bytes = Buffer.from(await piece.arrayBuffer())
          if (hash('sha1', bytes) !== piece.name) return { status: 400, body: 'Checksum mismatch' }
          pieces.set(piece.name, bytes)
        }
        return {}
      }
      case `POST ${ORGANIZATION}/artifactbundle/assemble/`: {
        state.assembly = JSON.parse(body.toString()) as Record<string, unknown>
        const wanted = state.assembly['chunks'] as string[]
        const missingChunks = wanted.filter((sha1) => !pieces.has(sha1))
        if (missingChunks.length > 0) return json({ state: 'not_found', missingChunks })
        state.bundle = Buffer.concat(wanted.map((sha1) => pieces.get(sha1) ?? Buffer.alloc(0)))
        if (hash('sha1', state.bundle) !== state.assembly['checksum'])
          return json({ state: 'error', detail: 'checksum' })
        return json({ state: 'ok', missingChunks: [] })
      }
      default:
        return { status: 404, body: '{"detail":"not found"}' }
    }
  }

  const server = createServer(async (req, res) => {
    const request = `${req.method} ${req.url}`
    requests.push(request)
    tokens.push(req.headers.authorization)
    const body = await bodyOf(req)
    const scripted = options.script?.(request)
    const answer = scripted ?? (await usual(request, body, req.headers['content-type'] ?? ''))
    res.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return service
}

/** An answer in JSON. */
function json(value: unknown): ScriptedAnswer {
  return { body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } }
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** @throws {Error} for what is no bundle, or a damaged one. */
function readBundle(bundle: Buffer): ReadonlyMap<string, Buffer> {
  const damaged = (what: string): Error => new Error(`This is no bundle: ${what}`)
  if (bundle.toString('latin1', 0, 4) !== 'SYSB' || bundle.readUInt32LE(4) !== 2) throw damaged('header')
  const end = bundle.length - 22
  if (bundle.readUInt32LE(end) !== 0x06054b50) throw damaged('end of the directory')
  const count = bundle.readUInt16LE(end + 10)
  const files = new Map<string, Buffer>()
  let at = bundle.readUInt32LE(end + 16)
  for (let number = 0; number < count; number += 1) {
    if (bundle.readUInt32LE(at) !== 0x02014b50) throw damaged('directory')
    const [crc, packed, unpacked] = [16, 20, 24].map((field) => bundle.readUInt32LE(at + field)) as [
      number,
      number,
      number,
    ]
    const nameLength = bundle.readUInt16LE(at + 28)
    const path = bundle.toString('utf8', at + 46, at + 46 + nameLength)
    const local = bundle.readUInt32LE(at + 42)
    if (bundle.readUInt32LE(local) !== 0x04034b50) throw damaged('file')
    if (bundle.toString('utf8', local + 30, local + 30 + nameLength) !== path) throw damaged('name')
    const contents = inflateRawSync(bundle.subarray(local + 30 + nameLength, local + 30 + nameLength + packed))
    if (contents.length !== unpacked || crc32(contents) !== crc) throw damaged('contents')
    files.set(path, contents)
    at += 46 + nameLength
  }
  if (at !== end) throw damaged('length of the directory')
  return files
}
