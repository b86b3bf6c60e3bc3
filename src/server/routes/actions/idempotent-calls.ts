import { setTimeout as delay } from 'node:timers/promises'
import { controlFlowDigest, controlFlowOf } from '../../../shared/control-flow.ts'
import { decodeValues } from '../../../shared/protocol/decode-value-text.ts'
import { encodeValues } from '../../../shared/protocol/encode-values.ts'
import { createByteTurns } from '../../http/byte-turns.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import type { NotedSessions } from '../../request/noted-sessions.ts'
import { storedSessionId } from '../../secrets/read-stored-session.ts'
import type { IdempotencyState, IdempotencyStore } from '../../stores/idempotency-store.ts'
import type { SessionStore } from '../../stores/session-store.ts'
import type { IdempotencyKey } from './idempotency-key.ts'
import type { ActionOutcome, FinishedCall } from './run-action.ts'
import { openOutcome, sealOutcome, storedName } from './sealed-outcome.ts'
import { rewrittenSince, valueIn, writtenCookies, type WrittenCookies } from './written-cookies.ts'

/** Runs each call at most once in the lifetime of the store's entries. */
export interface IdempotentCalls {
  /**
   * @param key equal for a call and its repetitions.
   * @returns the outcome of the first call of this key, even if another process ran it; `'running'` while another
   * process runs it, or after one died while running it: whether it took effect is unknown, so it does not run again. The
   * form of a document waits some seconds for the other process: its visitor sees this answer alone.
   * A call that has started a session runs again once that session has ended, unless somebody has signed in since the
   * router has sent it: then the outcome comes without its cookies.
   * @throws {UnavailableError} if it has started a session, and the store of sessions cannot be read.
   */
  run(
    key: IdempotencyKey,
    work: () => Promise<FinishedCall>,
    context: RequestContext,
  ): Promise<FinishedCall | 'running'>
}

interface RunningCall {
  readonly call: Promise<FinishedCall | 'running'>
  readonly context: RequestContext
}

/** What a call has set. */
interface SetHeaders {
  /** Response headers that the handler has set. */
  readonly headers: readonly (readonly [string, string])[]
  /** Of the cookies among them; absent without any. */
  readonly cookies?: WrittenCookies
  /** Ids of the sessions on the server whose cookies are among them; absent without any. */
  readonly sessions?: readonly string[]
  /** As `NotedSessions.ended`; absent without any. */
  readonly ended?: NotedSessions['ended']
}

/** The stored outcome of a call. */
interface KeptCall extends SetHeaders {
  /** Value stream of the handler's result. */
  readonly value?: string
  readonly kind: 'value' | 'thrown'
  /** Digest of control flow. */
  readonly signal?: string
  readonly revalidate: readonly string[]
}

/** How often the form of a document asks whether another process has an outcome: for ten seconds. The router asks again itself. */
const [MOST_LOOKS, LOOK_MS] = [40, 250]

/** An error may be its own cause. */
const MOST_CAUSES = 8

/** Of one call whose sessions have ended. Further repetitions run without being recognized. */
const MOST_ENDED = 16

/**
 * Bytes of results on their way to the stores. Sessions wait on the same connection to Redis, and everybody waits for a
 * transaction in a file.
 */
const MOST_RESULT_BYTES = 1_048_576

/**
 * Bound: one entry per call in progress in this process.
 * @param turn of a repeated call, before it gets the outcome: a hundred that have waited for one would else write their
 * answers in one turn of the event loop. As `Admission.turnWhenDue`.
 */
export function createIdempotentCalls(
  services: { readonly calls: IdempotencyStore; readonly sessions: Pick<SessionStore, 'stateOf'> },
  now: () => number,
  turn: (context: RequestContext) => Promise<void> | undefined = () => undefined,
): IdempotentCalls {
  const results = createByteTurns(MOST_RESULT_BYTES)
  const running = new Map<string, RunningCall>()

  async function runFirst(key: IdempotencyKey, work: () => Promise<FinishedCall>, context: RequestContext) {
    let { sent } = key
    for (let ended = 0; ended < MOST_ENDED; ended += 1) {
      const ask = () => services.calls.begin(storedName(sent), now(), clientOf(context))
      const begun = await begin(ask, key.isOfRouter ? 0 : MOST_LOOKS, context)
      if (begun.state === 'new') return runNew({ ...key, sent }, work, context)
      const text = begun.state === 'done' ? openOutcome(sent, begun.result) : undefined
      // It runs, or it has run and what came of it is lost.
      if (text === undefined) return 'running'
      const kept = JSON.parse(text) as KeptCall
      const states = await Promise.all((kept.sessions ?? []).map((id) => services.sessions.stateOf(id, now())))
      const replaced = await replacedCookies(key, kept, context)
      const over = kept.sessions?.find((_, at) => states[at] === 'ended')
      if (over === undefined || replaced.hasSignedIn) {
        await turn(context)
        const current = withoutSessions(kept, (_, at) => states[at] !== 'kept')
        return restore({ ...kept, headers: current }, replaced.names, context)
      }
      // Whoever signs out, and in again by the same form, wants a new session: the cookie of the former one opens nothing.
      // One run for all repetitions, with and without that cookie. Only who has the outcome knows the session.
      sent = `${key.content} ${over}`
    }
    return work()
  }

  /**
   * Names of the cookies that something else has written since a call of the router has set them, such as that of a basket.
   * That of a session on the server only if it opens one.
   */
  async function replacedCookies(
    { isOfRouter }: IdempotencyKey,
    { cookies = {}, headers, sessions = [] }: SetHeaders,
    { req }: RequestContext,
  ) {
    const { cookie } = req.headers
    const names: string[] = []
    let hasSignedIn = false
    for (const name of isOfRouter ? rewrittenSince(cookies, cookie) : []) {
      const isSession = headers.some(([, line]) => line.startsWith(`${name}=`) && sessions.includes(sessionOf(line)))
      const id = storedSessionId(name, valueIn(cookie, name))
      if (isSession && (await services.sessions.stateOf(id, now())) === 'ended') continue
      names.push(name)
      hasSignedIn ||= isSession
    }
    return { names, hasSignedIn }
  }

  async function runNew(key: IdempotencyKey, work: () => Promise<FinishedCall>, context: RequestContext) {
    try {
      const call = await work()
      const kept = await keep(call, context)
      const text = kept === undefined ? undefined : JSON.stringify(kept)
      await settle(context, () =>
        text === undefined ? services.calls.abandon(storedName(key.sent)) : finish(key, text, context),
      )
      return call
    } catch (thrown) {
      await settle(context, () => services.calls.abandon(storedName(key.sent)))
      throw thrown
    }
  }

  async function finish(key: IdempotencyKey, text: string, context: RequestContext): Promise<void> {
    const setCookies = context.givenHeaders?.getSetCookie() ?? []
    const keys = [...new Set([key.sent, setCookies.length === 0 ? key.sent : key.repeated(setCookies, now())])]
    const client = clientOf(context)
    await results.run(client, text.length * keys.length, () =>
      Promise.all(keys.map((each) => services.calls.finish(storedName(each), sealOutcome(each, text), now(), client))),
    )
  }

  async function run(...[key, work, context]: Parameters<IdempotentCalls['run']>): ReturnType<IdempotentCalls['run']> {
    const { asForm } = key
    const isSent = ({ sent }: IdempotencyKey) => settle(context, () => services.calls.has(storedName(sent), now()))
    if (asForm && (running.has(asForm.sent) || (await isSent(asForm)))) return run(asForm, work, context)
    const known = running.get(key.sent)
    if (known === undefined) {
      // Registered before the store is asked, which may take a while.
      const call = runFirst(key, work, context).finally(() => running.delete(key.sent))
      running.set(key.sent, { call, context })
      return call
    }
    const call = await outcomeOf(known)
    if (call === undefined) return run(key, work, context)
    await turn(context)
    const set = setHeaders(known.context)
    give(set, (await replacedCookies(key, set, context)).names, context)
    return call
  }

  return { run }
}

/** @returns `undefined` if it has stopped because its visitor has left: the browser drops the first of two presses. */
async function outcomeOf({ call, context }: RunningCall): Promise<FinishedCall | 'running' | undefined> {
  const hasLeft = (): boolean => context.aborted?.cause === 'gone'
  try {
    const finished = await call
    return finished !== 'running' && hasLeft() && isStopped(finished, context.signal) ? undefined : finished
  } catch (thrown) {
    // It has waited for another process.
    if (hasLeft()) return undefined
    throw thrown
  }
}

/**
 * Whether its handler has stopped with its signal: `fetch` and `throwIfAborted` throw the signal's own reason, the modules of
 * Node have it as the cause. What failed otherwise, such as a time limit of its own, may have done its work.
 */
function isStopped({ outcome }: FinishedCall, { reason }: AbortSignal): boolean {
  let thrown: unknown = 'thrown' in outcome ? outcome.thrown : undefined
  for (let depth = 0; depth < MOST_CAUSES && thrown !== reason; depth += 1) {
    if (!(thrown instanceof Error)) return false
    thrown = thrown.cause
  }
  return thrown === reason
}

/** @param looks how often to ask again while another process runs it. */
async function begin(
  ask: () => Promise<IdempotencyState>,
  looks: number,
  context: RequestContext,
): Promise<IdempotencyState> {
  const begun = await settle(context, ask)
  if (begun?.state !== 'running' || looks === 0) return begun ?? { state: 'new' }
  await delay(LOOK_MS, undefined, { signal: context.signal })
  return begin(ask, looks - 1, context)
}

function clientOf({ clientAddress }: RequestContext): string {
  return clientKey(clientAddress.address)
}

/** If the store fails, for instance on a full disk, the call still runs, only without protection from repetitions. */
async function settle<Result>(context: RequestContext, work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work()
  } catch (thrown) {
    context.log.warn(
      { err: thrown instanceof Error ? thrown.message : String(thrown) },
      'the store of calls has failed',
    )
    return undefined
  }
}

/** `undefined` for a failure, shown as a state or not, and for a refused input: they may be retried. */
async function keep({ outcome, revalidate }: FinishedCall, context: RequestContext): Promise<KeptCall | undefined> {
  const common = { revalidate, ...setHeaders(context) }
  if (outcome.kind === 'thrown') {
    const signal = controlFlowDigest(outcome.thrown)
    return signal === undefined ? undefined : { kind: 'thrown', signal, ...common }
  }
  if (outcome.kind !== 'value') return undefined
  return { kind: 'value', value: await textOf(outcome.value), ...common }
}

function setHeaders(context: RequestContext): SetHeaders {
  const sessions = startedSessions(context)
  const setCookies = context.givenHeaders?.getSetCookie() ?? []
  const ended = context.audience.sessions?.ended ?? []
  return {
    headers: [...(context.givenHeaders ?? [])],
    ...(ended.length > 0 && { ended }),
    ...(setCookies.length > 0 && { cookies: writtenCookies(setCookies, context.req.headers.cookie) }),
    ...(sessions.length > 0 && { sessions }),
  }
}

/** Ids of the sessions whose cookies the call has set. */
function startedSessions({ audience, givenHeaders }: RequestContext): readonly string[] {
  const open = (audience.sessions?.lives ?? []).flatMap(({ kept }) => kept?.id ?? [])
  if (open.length === 0) return []
  const set = (givenHeaders?.getSetCookie() ?? []).map(sessionOf)
  return open.filter((id) => set.includes(id))
}

async function restore(kept: KeptCall, replaced: readonly string[], context: RequestContext): Promise<FinishedCall> {
  give(kept, replaced, context)
  return { outcome: await restoreOutcome(kept), revalidate: kept.revalidate }
}

/** Sets what the first run has set. @param replaced names of cookies that have been written since. */
function give({ headers, ended }: SetHeaders, replaced: readonly string[], context: RequestContext): void {
  for (const [name, value] of withoutCookies(headers, replaced)) context.loaderContext.headers.append(name, value)
  // Nobody has learned of it if the first answer was lost.
  if (ended !== undefined && replaced.length === 0) context.audience.openSessions().endAgain(ended)
}

/** Without the cookies of some sessions: a former id would end the session in its browser. */
function withoutSessions(
  { headers, sessions = [] }: SetHeaders,
  isFormer: (id: string, at: number) => boolean,
): SetHeaders['headers'] {
  const former = sessions.filter(isFormer)
  return former.length === 0 ? headers : headers.filter(([, line]) => !former.includes(sessionOf(line)))
}

function withoutCookies(headers: SetHeaders['headers'], names: readonly string[]): SetHeaders['headers'] {
  if (names.length === 0) return headers
  return headers.filter(([name, line]) => name !== 'set-cookie' || !names.includes(line.split('=', 1)[0] ?? ''))
}

/** Id of the session, if the line sets the cookie of one. */
function sessionOf(line: string): string {
  const [pair = ''] = line.split(';', 1)
  const at = pair.indexOf('=')
  return storedSessionId(pair.slice(0, at), pair.slice(at + 1))
}

async function restoreOutcome({ kind, value = '', signal }: KeptCall): Promise<ActionOutcome> {
  if (kind === 'thrown') return { kind, thrown: controlFlowOf({ digest: signal }) }
  const [decoded] = await decodeValues<[unknown]>(
    new Blob([value]).stream().pipeThrough(new TextDecoderStream()) as never,
  )
  return { kind, value: decoded }
}

async function textOf(value: unknown): Promise<string> {
  const reader = encodeValues([value], new AbortController().signal).getReader()
  let text = ''
  for (;;) {
    const { done, value: chunk } = await reader.read()
    if (done) return text
    text += chunk ?? ''
  }
}
