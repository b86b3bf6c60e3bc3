import { hasTypedInput, type InvalidInput } from '../../../shared/action-result.ts'
import { isPasswordName } from '../../../shared/password-name.ts'
import { issuePath, type CheckedValue, type Schema, type SchemaIssue } from '../../../shared/schema.ts'
import { checkInput } from '../load/check-input.ts'
import { refuseLostValues } from '../load/lost-value-error.ts'
import type { ActionCall, DeclaredAction } from './action.ts'
import { RefusedInputSignal } from '../../api/refuse-input.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { ownGetters } from '../../values/own-getters.ts'
import type { PageTexts } from '../../../shared/texts.ts'
import { judgeThrown } from '../../request/answer/judge-thrown.ts'
import { LateChangeError } from '../../request/late-changes.ts'
import { BodyError } from '../../http/body/body-error.ts'
import { MOST_FAULTS } from '../../http/body/body-limits.ts'
import { textsOf } from '../../request/answer/texts.ts'
import type { RequestContext } from '../../request/context.ts'
import { RenewedSession } from '../../secrets/renewed-session.ts'
import { namedTargets } from '../../stores/cache/revalidation-targets.ts'
import { watchPromises } from '../load/watch-promises.ts'
import type { ReceivedCall } from './read-call.ts'

/** Outcome of a call. */
export type ActionOutcome =
  | { readonly kind: 'value'; readonly value: unknown }
  /**
   * `secret`: names of fields that the browser must not show again either. The status is 422, or 413 for a file that is too
   * large.
   */
  | RefusedInput
  /** The handler has failed, and the form shows that as its state. */
  | {
      readonly kind: 'failed'
      readonly thrown: unknown
      readonly typed: TypedInput
      readonly secret: readonly string[]
    }
  /** Control flow, or a failure. */
  | { readonly kind: 'thrown'; readonly thrown: unknown }

/** An input that is not taken. */
export interface RefusedInput {
  readonly kind: 'invalid'
  readonly status?: 413
  readonly state: InvalidInput
  readonly secret?: readonly string[]
}

/** What the form holds again. */
const MOST_REPEATED = 131_072

type TypedInput = Pick<InvalidInput, 'values' | 'omitted'>

/** A finished call. */
export interface FinishedCall {
  readonly outcome: ActionOutcome
  /** Targets to drop from caches. */
  readonly revalidate: readonly string[]
}

/**
 * Validates a call with the action's schemas and runs its handler.
 * @throws {BodyError} 400 for bound arguments that do not fit: no page has bound them.
 */
export async function runAction(
  { definition, name }: DeclaredAction,
  call: ReceivedCall,
  params: ActionCall['params'],
  context: RequestContext,
): Promise<FinishedCall> {
  const revalidate = new Set<string>()
  const drops: HandlerDrops = { targets: revalidate, isOver: false }
  /** Drops targets again, everywhere: data that was read before the handler finished may be outdated. */
  const dropShared = async (): Promise<void> => {
    drops.isOver = true
    if (revalidate.size > 0) await context.services.data.revalidate([...revalidate])
  }
  const done = (outcome: ActionOutcome): FinishedCall => {
    // A cookie may change the visitor's identity, on which all pages in the browser depend.
    if (outcome.kind !== 'invalid' && context.givenHeaders?.has('set-cookie')) revalidate.add('/*')
    return { outcome, revalidate: [...revalidate] }
  }
  const { handler, secret = [] } = definition
  let hasState = false
  try {
    const { args, state, ...split } = await splitArguments(definition.args, call)
    hasState = split.hasState
    const checked = await check(definition.input, call.input, () => textsOf(context))
    if (checked.issues !== undefined) {
      return done({ kind: 'invalid', state: invalidInput(checked.issues, call, secret), secret })
    }
    const given = { input: checked.value, args, state, files: call.files, params }
    // In the turn in which it returns, because nobody may await the promises in it.
    const value = watchPromises(await handler(new HandlerCall(given, drops, context)), context, 'action')
    refuseLostValues({ [name ?? 'without a name']: value }, 'action ')
    await dropShared()
    return done({ kind: 'value', value })
  } catch (met) {
    const thrown = normalizeThrown(met)
    if (thrown instanceof BodyError) throw thrown
    await dropShared()
    if (met instanceof RefusedInputSignal) {
      const state: InvalidInput = { kind: 'invalid', errors: met.errors, ...typedInput(call, secret) }
      return done({ kind: 'invalid', state, secret })
    }
    if (hasState && definition.failure === 'state' && judgeThrown(thrown).kind === 'failure' && !isPutOff(thrown)) {
      return done({ kind: 'failed', thrown, typed: typedInput(call, secret), secret })
    }
    return done({ kind: 'thrown', thrown })
  }
}

/** Whether it is sent again, by itself. */
function isPutOff(thrown: unknown): boolean {
  return thrown instanceof RenewedSession && thrown.isAtRead
}

const LATE_REVALIDATE =
  "revalidate() was called after its action's handler had returned, so the browser keeps its data. Call it before that"

/** What a handler drops. */
interface HandlerDrops {
  /** In their normal form, each once: they are kept with the outcome, and sent to the browser. */
  readonly targets: Set<string>
  /** The handler has finished: what work that it has left behind drops is not dropped again. */
  isOver: boolean
}

type GivenCall = Pick<ActionCall<unknown, readonly unknown[]>, 'params' | 'input' | 'args' | 'state' | 'files'>

/** Creates the request on first use: most handlers never read it. */
class HandlerCall implements ActionCall<unknown, readonly unknown[]> {
  readonly params: ActionCall['params']
  readonly context: ActionCall['context']
  readonly input: unknown
  readonly args: readonly unknown[]
  readonly state: unknown
  readonly files: ActionCall['files']
  readonly revalidate: ActionCall['revalidate']
  readonly signal: AbortSignal
  readonly #call: RequestContext

  constructor({ params, input, args, state, files }: GivenCall, drops: HandlerDrops, call: RequestContext) {
    this.params = params
    this.context = call.loaderContext
    this.input = input
    this.args = args
    this.state = state
    this.files = files
    this.revalidate = this.#revalidate.bind(this, drops)
    // It was read together with the body.
    this.signal = call.signal
    this.#call = call
    ownCall(this)
  }

  #revalidate({ targets: dropped, isOver }: HandlerDrops, ...targets: readonly string[]): void {
    if (isOver) {
      this.#call.noteLateChange(new LateChangeError(LATE_REVALIDATE))
      return void this.context.revalidate(...targets)
    }
    const named = namedTargets(targets)
    for (const target of named) dropped.add(target)
    // For everything that the handler itself reads from here on. They are dropped again when it has finished.
    void this.#call.services.data.revalidate(named, true)
  }

  get request(): Request {
    return this.#call.request
  }
}

const ownCall = ownGetters(HandlerCall.prototype, ['request'])

interface SplitArguments {
  readonly args: readonly unknown[]
  readonly state: unknown
  /** Whether the caller shows the next state. */
  readonly hasState: boolean
}

/** Separates bound arguments from the state after them. */
export async function splitArguments(
  schema: Schema<readonly unknown[]> | undefined,
  { leading, hasState }: ReceivedCall,
): Promise<SplitArguments> {
  const withState: SplitArguments = { args: leading.slice(0, -1), state: stateOf(leading.at(-1)), hasState: true }
  const withoutState: SplitArguments = { args: leading, state: undefined, hasState: false }
  const readings = hasState === undefined ? [withoutState, withState] : [hasState ? withState : withoutState]
  let shortened: SplitArguments | undefined
  for (const reading of readings) {
    if (schema === undefined) {
      if (reading.args.length === 0) return reading
      continue
    }
    const checked = await check(schema, reading.args)
    if (checked.issues !== undefined) continue
    const args = checked.value as readonly unknown[]
    if (args.length >= reading.args.length) return { ...reading, args }
    // A tuple of Valibot drops what is behind its last item: that may be the state.
    shortened ??= { ...reading, args }
  }
  if (shortened !== undefined) return shortened
  throw new BodyError(400, 'arguments that the action does not take')
}

/** A refused input and a failure are not passed on as the previous state. */
function stateOf(value: unknown): unknown {
  return value === null || hasTypedInput(value) ? undefined : value
}

async function check(
  schema: Schema | undefined,
  input: unknown,
  texts?: () => Pick<PageTexts, 'tooManyFaults'>,
): Promise<CheckedValue> {
  return schema === undefined ? { value: input } : checkInput(schema, input, texts)
}

function invalidInput(issues: readonly SchemaIssue[], call: ReceivedCall, secret: readonly string[]): InvalidInput {
  const { form } = call
  const errors = Object.create(null) as Record<string, string[]>
  for (const issue of issues.slice(0, MOST_FAULTS)) {
    const { message } = issue
    const path = issuePath(issue)
    const name = form === undefined ? path.join('.') : form.nameOf(path)
    const messages = (errors[name] ??= [])
    if (!messages.includes(message)) messages.push(message)
  }
  return { kind: 'invalid', errors, ...typedInput(call, secret) }
}

/**
 * What was typed, without secrets. A document repeats `MOST_REPEATED` characters of it, whole fields only: React looks at each
 * to escape it, so a megabyte of `<` takes ten times what its reading took. A call of the client router keeps what it sent.
 */
export function typedInput({ form, hasState }: ReceivedCall, secret: readonly string[]): TypedInput {
  let left = hasState === undefined ? Number.POSITIVE_INFINITY : MOST_REPEATED
  const values = Object.create(null) as Record<string, string | string[]>
  const omitted = new Set<string>()
  for (const [name, value] of form?.fields ?? []) {
    if (typeof value !== 'string') {
      if (value.name !== '' || value.size > 0) omitted.add(name)
    } else if (!secret.includes(name) && !isPasswordName(name)) {
      if (value.length > left) {
        omitted.add(name)
        continue
      }
      left -= value.length
      const known = values[name]
      if (known === undefined) values[name] = value
      else values[name] = Array.isArray(known) ? [...known, value] : [known, value]
    }
  }
  return { values, omitted: [...omitted] }
}
