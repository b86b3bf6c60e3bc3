import { controlFlowDigest, controlFlowOf } from '../../../shared/control-flow.ts'
import { decodeValues } from '../../../shared/protocol/decode-value-text.ts'
import { encodeValues } from '../../../shared/protocol/encode-values.ts'
import { createByteTurns } from '../../http/byte-turns.ts'
import { clientKey } from '../../http/client-key.ts'
import type { RequestContext } from '../../request/context.ts'
import type { IdempotencyStore } from '../../stores/idempotency-store.ts'
import type { IdempotencyKey } from './idempotency-key.ts'
import type { ActionOutcome, FinishedCall } from './run-action.ts'
import { openOutcome, sealOutcome, storedName } from './sealed-outcome.ts'

/** Runs each call at most once in the lifetime of the store's entries. */
export interface IdempotentCalls {
  /**
   * @param key equal for a call and its repetitions.
   * @returns the outcome of the first call of this key, even if another process ran it; `'running'` while another
   * process runs it, or after one died while running it: whether it took effect is unknown, so it does not run again.
   */
  run(
    key: IdempotencyKey,
    work: () => Promise<FinishedCall>,
    context: RequestContext,
  ): Promise<FinishedCall | 'running'>
}

/** The stored outcome of a call. */
interface KeptCall {
  /** Value stream of the handler's result. */
  readonly value?: string
  readonly kind: 'value' | 'thrown'
  /** Digest of control flow. */
  readonly signal?: string
  readonly revalidate: readonly string[]
  /** Response headers that the handler has set. */
  readonly headers: readonly (readonly [string, string])[]
}

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
  services: { readonly calls: IdempotencyStore },
  now: () => number,
  turn: (context: RequestContext) => Promise<void> | undefined = () => undefined,
): IdempotentCalls {
  const results = createByteTurns(MOST_RESULT_BYTES)
  const running = new Map<string, { call: Promise<FinishedCall | 'running'>; context: RequestContext }>()

  async function runFirst(key: IdempotencyKey, work: () => Promise<FinishedCall>, context: RequestContext) {
    const begun = (await settle(context, () =>
      services.calls.begin(storedName(key.sent), now(), clientOf(context)),
    )) ?? {
      state: 'new',
    }
    if (begun.state === 'running') return 'running'
    if (begun.state === 'done') {
      await turn(context)
      const text = openOutcome(key.sent, begun.result)
      // It has run, but what came of it is lost.
      return text === undefined ? 'running' : restore(JSON.parse(text) as KeptCall, context)
    }
    return runNew(key, work, context)
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
    const repeated = setCookies.length === 0 ? key.sent : key.repeated(setCookies, now())
    const keys = repeated === key.sent ? [key.sent] : [key.sent, repeated]
    const client = clientOf(context)
    await results.run(client, text.length * keys.length, () =>
      Promise.all(keys.map((each) => services.calls.finish(storedName(each), sealOutcome(each, text), now(), client))),
    )
  }

  return {
    async run(key, work, context) {
      const known = running.get(key.sent)
      if (known !== undefined) {
        const call = await known.call
        await turn(context)
        append(known.context.givenHeaders ?? [], context)
        return call
      }
      // Registered before the store is asked, which may take a while.
      const call = runFirst(key, work, context).finally(() => running.delete(key.sent))
      running.set(key.sent, { call, context })
      return call
    },
  }
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
  const headers = [...(context.givenHeaders ?? [])]
  if (outcome.kind === 'thrown') {
    const signal = controlFlowDigest(outcome.thrown)
    return signal === undefined ? undefined : { kind: 'thrown', signal, revalidate, headers }
  }
  if (outcome.kind !== 'value') return undefined
  return { kind: 'value', value: await textOf(outcome.value), revalidate, headers }
}

async function restore(kept: KeptCall, context: RequestContext): Promise<FinishedCall> {
  append(kept.headers, context)
  return { outcome: await restoreOutcome(kept), revalidate: kept.revalidate }
}

function append(headers: Iterable<readonly [string, string]>, context: RequestContext): void {
  for (const [name, value] of headers) context.loaderContext.headers.append(name, value)
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
