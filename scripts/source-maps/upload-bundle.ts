/**
 * Hands a bundle to the error service, by the interface that its own command uses: pieces are posted by their hash, then
 * put together. https://docs.sentry.io/api/releases/assemble-an-artifact-bundle/
 */
import { hash } from 'node:crypto'

/** Where to, and on whose behalf. */
export interface UploadTarget {
  /** Of the service: `https://sentry.io`. */
  readonly url: string
  readonly org: string
  readonly project: string
  readonly release: string
  readonly token: string
}

/** Thrown where the service does not take the bundle; the message says what it has said. Never holds the token. */
export class UploadError extends Error {
  override readonly name = 'UploadError'
}

/** Time and network, for tests. */
export interface UploadWorld {
  readonly fetch: typeof globalThis.fetch
  /** Resolves after so many milliseconds. */
  wait(milliseconds: number): Promise<unknown>
}

/** What the service says of uploads. */
interface UploadSettings {
  readonly url: string
  /** Bytes. */
  readonly chunkSize: number
  readonly chunksPerRequest: number
  /** Bytes. */
  readonly maxRequestSize: number
  readonly accept: readonly string[]
}

interface AssemblyState {
  readonly state: 'not_found' | 'created' | 'assembling' | 'ok' | 'error'
  readonly missingChunks?: readonly string[]
  readonly detail?: string | null
}

interface Chunk {
  readonly sha1: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const POLL_MS = 1_000
const MOST_POLLS = 300 // five minutes
const REQUEST_LIMIT_MS = 120_000
const MOST_ATTEMPTS = 3
const LONGEST_ANSWER = 300 // characters of an answer that are shown

/**
 * Uploads a bundle and waits until the service has taken it in.
 * @throws {UploadError}
 */
export async function uploadBundle(bundle: Buffer, target: UploadTarget, world: UploadWorld): Promise<void> {
  const { org, project, release, url } = target
  const api = `${url.replace(/\/+$/, '')}/api/0/organizations/${encodeURIComponent(org)}`
  const settings = (await call(`${api}/chunk-upload/`, {}, target, world)) as UploadSettings
  if (!settings.accept.some((what) => what.startsWith('artifact_bundles'))) {
    throw new UploadError(`${url} takes no artifact bundles.`)
  }
  const chunks = chunksOf(bundle, settings.chunkSize)
  const assembly = {
    checksum: hash('sha1', bundle),
    chunks: chunks.map(({ sha1 }) => sha1),
    projects: [project],
    version: release,
  }
  const assemble = async (): Promise<AssemblyState> =>
    (await call(`${api}/artifactbundle/assemble/`, json(assembly), target, world)) as AssemblyState

  const store = new URL(settings.url, `${api}/chunk-upload/`).href
  await sendChunks(chunks, store, settings, target, world)
  for (let poll = 0; poll < MOST_POLLS; poll += 1) {
    const { state, missingChunks = [], detail } = await assemble()
    if (state === 'ok') return
    if (state === 'error')
      throw new UploadError(`The service could not take the bundle in: ${detail ?? 'no reason given'}`)
    const missing = chunks.filter(({ sha1 }) => missingChunks.includes(sha1))
    if (missing.length > 0) await sendChunks(missing, store, settings, target, world)
    else await world.wait(POLL_MS)
  }
  throw new UploadError('The service has not taken the bundle in within five minutes.')
}

function chunksOf(bundle: Buffer, size: number): readonly Chunk[] {
  return Array.from({ length: Math.ceil(bundle.length / size) }, (_, at) => {
    const bytes = new Uint8Array(bundle.subarray(at * size, (at + 1) * size))
    return { sha1: hash('sha1', bytes), bytes }
  })
}

/** In requests as large as the service lets them be. Each piece is named by its hash. */
async function sendChunks(
  chunks: readonly Chunk[],
  store: string,
  { chunksPerRequest, maxRequestSize }: UploadSettings,
  target: UploadTarget,
  world: UploadWorld,
): Promise<void> {
  let body = new FormData()
  let count = 0
  let size = 0
  const flush = async (): Promise<void> => {
    if (count > 0) await call(store, { method: 'POST', body }, target, world)
    body = new FormData()
    count = 0
    size = 0
  }
  for (const { sha1, bytes } of chunks) {
    if (count === chunksPerRequest || size + bytes.length > maxRequestSize) await flush()
    body.append('file', new Blob([bytes], { type: 'application/octet-stream' }), sha1)
    count += 1
    size += bytes.length
  }
  await flush()
}

function json(value: unknown): RequestInit {
  return { method: 'POST', body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } }
}

/** One request; what fails in passing is tried again. @returns what the answer says; `undefined` where that is nothing. */
async function call(url: string, init: RequestInit, { token }: UploadTarget, world: UploadWorld): Promise<unknown> {
  const headers = { ...init.headers, Authorization: `Bearer ${token}` }
  const shown = new URL(url).origin + new URL(url).pathname
  for (let attempt = 1; ; attempt += 1) {
    const last = attempt === MOST_ATTEMPTS
    try {
      // A redirect might lead the token elsewhere.
      const signal = AbortSignal.timeout(REQUEST_LIMIT_MS)
      const answer = await world.fetch(url, { ...init, headers, redirect: 'error', signal })
      const text = await answer.text()
      if (answer.ok) return text === '' ? undefined : parse(text, shown)
      if (last || answer.status < 500) {
        throw new UploadError(`${shown} has answered ${answer.status}: ${text.slice(0, LONGEST_ANSWER)}`)
      }
    } catch (thrown) {
      if (thrown instanceof UploadError) throw thrown
      const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
      if (last)
        throw new UploadError(`${shown} cannot be reached: ${cause instanceof Error ? cause.message : 'no reason'}`)
    }
    await world.wait(POLL_MS * attempt)
  }
}

function parse(text: string, shown: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UploadError(`${shown} is no interface of the service: it answers by something else than JSON.`)
  }
}
