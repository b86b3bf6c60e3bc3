import type { IncomingMessage } from 'node:http'
import { BodyError, overLimit } from '../../http/body/body-error.ts'
import { joinInTurns } from '../../http/body/join-in-turns.ts'
import { openBodySource, type BodySource } from '../../http/body/body-source.ts'
import { isParsed } from '../../http/body/parsed-body.ts'
import type { BodyPlace, BodyPlaces } from './body-places.ts'
import { MAX_HEADER_BYTES, readEnvelopeHeader, type Envelope } from '../intake/envelope.ts'
import { createInflater, hasLargeWindow, inflate } from './inflate.ts'

/** Bytes of an envelope, both as sent and inflated: 20 MiB. */
export const MAX_ENVELOPE_BYTES = 20_971_520

/** Longest silence of a client, in ms. */
const SILENCE_MS = 10_000
/** Longest duration of a body, in ms: 20 MiB at 350 kB a second. */
const BODY_MS = 60_000
/** Larger bodies need a place, which limits how many are in memory at once. */
const SMALL_BYTES = 262_144

/** Checks to apply while a body is read. */
interface ReportBodyRules {
  /** Checks the envelope's header as soon as it is read; an error that it throws ends the reading. */
  readonly judgeHeader: (header: Envelope['header']) => void
  /**
   * Called with each chunk's inflated bytes, and the compressed bytes received so far; an error that it throws ends the
   * reading.
   */
  readonly charge: (bytes: number, received: number) => Promise<void>
  readonly places: BodyPlaces
}

/** A body in memory. */
export interface ReportBody extends Disposable {
  readonly bytes: Buffer
}

/** Sender of a body. */
interface ReportBodyOwner {
  /** As `clientKey` names it. */
  readonly client: string
  /** Ends the reading. Only accessed if the body has not arrived yet. */
  readonly signal: AbortSignal
}

/**
 * Reads and inflates an envelope's body, never holding more than the limit. Dispose of the result when its memory is no
 * longer needed.
 * @throws {BodyError} 400, 408, 413 or 415.
 * @throws {EnvelopeError} for an invalid or too long header.
 * @throws {NoPlaceError} if too many large bodies are in memory, or this one is too slow while others wait.
 * @throws the signal's reason once it is aborted, and errors of the rules.
 */
export async function readReportBody(
  req: IncomingMessage,
  rules: ReportBodyRules,
  owner: ReportBodyOwner,
  now: () => number = () => performance.now(),
): Promise<ReportBody> {
  const coding = isParsed(req) ? undefined : req.headers['content-encoding']
  const inflater = createInflater(coding)
  if (Number(req.headers['content-length'] ?? 0) > MAX_ENVELOPE_BYTES) throw overLimit('bytes', MAX_ENVELOPE_BYTES)
  const whole = inflater === undefined ? takeWhole(req) : undefined
  if (whole !== undefined) {
    await rules.charge(whole.length, whole.length)
    judge(whole, rules)
    return { bytes: whole, [Symbol.dispose]: () => undefined }
  }
  const { signal, client } = owner
  const limits = { bytes: MAX_ENVELOPE_BYTES, timeoutMs: SILENCE_MS }
  const source = openBodySource(req, limits, signal)
  const came = { bytes: 0 }
  const pieces = inflater === undefined ? undefined : inflate(chunksOf(source, came), inflater)
  const next =
    pieces === undefined ? () => countedRead(source, came) : async () => (await pieces.next()).value ?? undefined
  const startedAt = now()
  const chunks: Buffer[] = []
  const state: { held: number; judged: boolean; place?: BodyPlace } = { held: 0, judged: false }
  try {
    if (hasLargeWindow(coding)) state.place = await enter(rules.places, client, signal, source)
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) {
      state.held += chunk.length
      if (state.held > MAX_ENVELOPE_BYTES) throw overLimit('bytes', MAX_ENVELOPE_BYTES)
      if (now() - startedAt > BODY_MS) throw new BodyError(408, 'The body takes too long')
      await rules.charge(chunk.length, came.bytes)
      chunks.push(chunk)
      if (!state.judged) state.judged = judgeBeginning(chunks, state.held, rules)
      if (state.held > SMALL_BYTES) state.place ??= await enter(rules.places, client, signal, source)
      state.place?.received(chunk.length)
    }
    const [only] = chunks
    const bytes = chunks.length === 1 && only !== undefined ? only : await joinInTurns(chunks)
    if (!state.judged) judge(bytes, rules)
    return { bytes, [Symbol.dispose]: () => state.place?.leave() }
  } catch (error) {
    state.place?.leave()
    void pieces?.return().catch(() => undefined)
    // An unfinished inflater may still wait for a chunk.
    source.close(error)
    throw error
  }
}

/** A place; the source fails as soon as the place is withdrawn. */
async function enter(places: BodyPlaces, client: string, signal: AbortSignal, source: BodySource): Promise<BodyPlace> {
  const place = await places.enter(client, signal)
  place.signal.addEventListener('abort', () => source.close(place.signal.reason), { once: true })
  return place
}

/**
 * A small body that has arrived completely: there is no need to wait for its `end`, which Node emits in a later turn.
 * @returns `undefined` for any other.
 */
function takeWhole(req: IncomingMessage): Buffer | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers
  const isWhole = coding === undefined && Number(length) === req.readableLength && req.readableLength <= SMALL_BYTES
  return isWhole ? ((req.read() as Buffer | null) ?? undefined) : undefined
}

/** Received bytes. */
interface Came {
  bytes: number
}

async function countedRead(source: BodySource, came: Came): Promise<Buffer | undefined> {
  const chunk = await source.read()
  came.bytes += chunk?.length ?? 0
  return chunk
}

async function* chunksOf(source: BodySource, came: Came): AsyncGenerator<Buffer, void> {
  for (let chunk = await countedRead(source, came); chunk !== undefined; chunk = await countedRead(source, came)) {
    yield chunk
  }
}

/** @returns whether the header was complete. */
function judgeBeginning(chunks: readonly Buffer[], held: number, rules: ReportBodyRules): boolean {
  if (chunks.at(-1)?.includes(0x0a) !== true && held <= MAX_HEADER_BYTES) return false
  judge(Buffer.concat(chunks), rules)
  return true
}

function judge(bytes: Buffer, rules: ReportBodyRules): void {
  rules.judgeHeader(readEnvelopeHeader(bytes).header)
}
