import { isInvalidInput, type InvalidInput } from '../../../shared/action-result.ts'
import { isPasswordName } from '../../../shared/password-name.ts'
import { checkValueAsync, issuePath, type CheckedValue, type Schema, type SchemaIssue } from '../../../shared/schema.ts'
import { refuseLostValues } from '../load/lost-value-error.ts'
import type { ActionCall, DeclaredAction } from './action.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { ownGetters } from '../../http/own-getters.ts'
import { BodyError } from '../../http/body/body-error.ts'
import { MOST_FAULTS } from '../../http/body/body-limits.ts'
import type { ReceivedCall } from './read-call.ts'

/** Outcome of a call. */
export type ActionOutcome =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `secret`: names of fields that the browser must not show again either. */
  | { readonly kind: 'invalid'; readonly state: InvalidInput; readonly secret?: readonly string[] }
  /** Control flow, or a failure. */
  | { readonly kind: 'thrown'; readonly thrown: unknown }

/** A finished call. */
export interface FinishedCall {
  readonly outcome: ActionOutcome
  /** Targets to drop from caches. */
  readonly revalidate: readonly string[]
}

/** Context of the call for its handler. */
export interface CallSurroundings extends Pick<ActionCall, 'params' | 'context'> {
  /** Parts of the request that are created on first use. */
  readonly call: Pick<ActionCall, 'signal' | 'request'> & {
    /** The response headers of `context`, if they have been created. */
    readonly givenHeaders: Headers | undefined
  }
  /** Watches the promises in the handler's result, in the turn in which it returns, because nobody may await them. */
  readonly watch: <Value>(value: Value) => Value
}

/**
 * Validates a call with the action's schemas and runs its handler.
 * @throws {BodyError} 400 for bound arguments that do not fit: no page has bound them.
 */
export async function runAction(
  { definition, name }: DeclaredAction,
  call: ReceivedCall,
  surroundings: CallSurroundings,
): Promise<FinishedCall> {
  const revalidate: string[] = []
  const { context } = surroundings
  /** Drops targets again, everywhere: data that was read before the handler finished may be outdated. */
  const dropShared = async (): Promise<void> => {
    if (revalidate.length > 0) await context.revalidate(...revalidate)
  }
  const done = (outcome: ActionOutcome): FinishedCall => {
    // A cookie may change the visitor's identity, on which all pages in the browser depend.
    if (outcome.kind !== 'invalid' && surroundings.call.givenHeaders?.has('set-cookie')) revalidate.push('/*')
    return { outcome, revalidate }
  }
  const { handler, secret = [] } = definition
  try {
    const { args, state } = await splitArguments(definition.args, call)
    const checked = await check(definition.input, call.input)
    if (checked.issues !== undefined) {
      return done({ kind: 'invalid', state: invalidInput(checked.issues, call, secret), secret })
    }
    const { files } = call
    const value = surroundings.watch(
      await handler(new HandlerCall(surroundings, { input: checked.value, args, state, files }, revalidate)),
    )
    refuseLostValues({ [name ?? 'without a name']: value }, 'action ')
    await dropShared()
    return done({ kind: 'value', value })
  } catch (met) {
    const thrown = normalizeThrown(met)
    if (thrown instanceof BodyError) throw thrown
    await dropShared()
    return done({ kind: 'thrown', thrown })
  }
}

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
  readonly #call: CallSurroundings['call']

  constructor(
    { params, context, call }: CallSurroundings,
    { input, args, state, files }: Pick<ActionCall<unknown, readonly unknown[]>, 'input' | 'args' | 'state' | 'files'>,
    dropped: string[],
  ) {
    this.params = params
    this.context = context
    this.input = input
    this.args = args
    this.state = state
    this.files = files
    this.revalidate = this.#revalidate.bind(this, dropped)
    // It was read together with the body.
    this.signal = call.signal
    this.#call = call
    ownCall(this)
  }

  #revalidate(dropped: string[], ...targets: readonly string[]): void {
    dropped.push(...targets)
    // For everything that the handler itself reads from here on.
    void this.context.revalidate(...targets)
  }

  get request(): Request {
    return this.#call.request
  }
}

const ownCall = ownGetters(HandlerCall.prototype, ['request'])

interface SplitArguments {
  readonly args: readonly unknown[]
  readonly state: unknown
}

/** Separates bound arguments from the state after them. */
async function splitArguments(
  schema: Schema<readonly unknown[]> | undefined,
  { leading, hasState }: ReceivedCall,
): Promise<SplitArguments> {
  const withState: SplitArguments = { args: leading.slice(0, -1), state: stateOf(leading.at(-1)) }
  const withoutState: SplitArguments = { args: leading, state: undefined }
  const readings = hasState === undefined ? [withoutState, withState] : [hasState ? withState : withoutState]
  for (const { args, state } of readings) {
    if (schema === undefined) {
      if (args.length === 0) return { args, state }
      continue
    }
    const checked = await check(schema, args)
    if (checked.issues === undefined) return { args: checked.value as readonly unknown[], state }
  }
  throw new BodyError(400, 'arguments that the action does not take')
}

/** A refused input is not passed on as the previous state. */
function stateOf(value: unknown): unknown {
  return value === null || isInvalidInput(value) ? undefined : value
}

async function check(schema: Schema | undefined, input: unknown): Promise<CheckedValue> {
  return schema === undefined ? { value: input } : checkValueAsync(schema, input).catch(tooManyIssues)
}

/** Schemas collect the faults of a list by spreading them as arguments: 400 kB of invalid input overflow the stack. */
function tooManyIssues(thrown: unknown): CheckedValue {
  if (!(thrown instanceof RangeError) || !/call stack/i.test(thrown.message)) throw thrown
  return { issues: [{ message: 'Too much of this does not fit.' }] }
}

function invalidInput(issues: readonly SchemaIssue[], { form }: ReceivedCall, secret: readonly string[]): InvalidInput {
  const errors = Object.create(null) as Record<string, string[]>
  for (const issue of issues.slice(0, MOST_FAULTS)) {
    const { message } = issue
    const path = issuePath(issue)
    const name = form === undefined ? path.join('.') : form.nameOf(path)
    const messages = (errors[name] ??= [])
    if (!messages.includes(message)) messages.push(message)
  }
  const values = Object.create(null) as Record<string, string | string[]>
  const omitted = new Set<string>()
  for (const [name, value] of form?.fields ?? []) {
    if (typeof value !== 'string') {
      if (value.name !== '' || value.size > 0) omitted.add(name)
    } else if (!secret.includes(name) && !isPasswordName(name)) {
      const known = values[name]
      if (known === undefined) values[name] = value
      else values[name] = Array.isArray(known) ? [...known, value] : [known, value]
    }
  }
  return { kind: 'invalid', errors, values, omitted: [...omitted] }
}
