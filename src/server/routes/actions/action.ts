import type { InvalidInput } from '../../../shared/action-result.ts'
import type { LoaderContext } from '../../api/loader-types.ts'
import { createFormReference } from '../render/form-reference.ts'
import type { UploadedFile } from '../../http/body/uploaded-file.ts'

/** A schema for what comes from the client: zod's, or anything with the same `safeParseAsync`. */
export interface InputSchema<Output> {
  readonly _output: Output
  safeParseAsync(
    input: unknown,
  ): Promise<{ success: true; data: unknown } | { success: false; error: { readonly issues: readonly InputIssue[] } }>
}

/** One fault of an input. */
export interface InputIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** How files are taken that are too large to be held in memory. */
export interface UploadLimits {
  /** Most files of one call. */
  readonly files: number
  /** Most bytes of one file. */
  readonly fileBytes: number
  /** Most bytes of the whole body; all files at their limit, and a megabyte, unless told. */
  readonly totalBytes?: number
}

/** What a handler is given. */
export interface ActionCall<Input = unknown, Args extends readonly unknown[] = readonly []> {
  /** What the schema made of the form's fields or of the JSON argument. */
  readonly input: Input
  /** What the page has bound. In the browser anybody can change it, as any field: it says what is meant, not who may. */
  readonly args: Args
  /** The former state of `useActionState`, as the client tells it; `undefined` without one. */
  readonly state: unknown
  /** With `upload`: the files, in the order of the form, behind all fields that stand before the first one. */
  readonly files: AsyncIterable<UploadedFile>
  /** Of the page that the form stands on. */
  readonly params: Readonly<Record<string, string | readonly string[]>>
  /** The page's own request, as a loader would get it: without the body. */
  readonly request: Request
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
  readonly context: LoaderContext
  /**
   * Drops data from the browsers' caches: tags that loaders have named, or paths (`/mills`, `/mills/*`). The segments
   * on screen come fresh anyway.
   */
  revalidate(...targets: readonly string[]): void
}

/** How an action is declared. */
export interface ActionDefinition<Input, Args extends readonly unknown[], Result> {
  /** Checked before the handler runs. Without one the handler gets what came, as `unknown`. */
  readonly input?: InputSchema<Input>
  /** A tuple: what the page binds in front of the input (`remove.bind(null, id)`). */
  readonly args?: InputSchema<Args>
  /** Names of fields whose text never goes back into a page. Fields that are named as passwords are among them anyway. */
  readonly secret?: readonly string[]
  /** Most bytes of a body; `ACTION_BODY_LIMIT` unless told. Not used with `upload`. */
  readonly bodyLimit?: number
  /**
   * `false` for what a page offers to those whom its guards refuse, such as signing in on the page of a 401: then it runs
   * without asking them. `true` unless told.
   */
  readonly guarded?: boolean
  /** Files are streamed to the handler. Without it they are held in memory, as part of the body. */
  readonly upload?: UploadLimits
  /** May throw what a loader may: `redirect()`, `notFound()` and their kin. */
  handler(call: ActionCall<Input, Args>): Result | Promise<Result>
}

/** What `useActionState` holds: `null` at first, then what the handler returned, or why the input was refused. */
export type ActionState<Result> = Result | InvalidInput | null

/** An action as pages see it: what `<form action>`, `formAction` and `useActionState` take, and what scripts may call. */
export interface Action<Input = unknown, Args extends readonly unknown[] = readonly [], Result = unknown> {
  (...args: [...Args, Input | FormData]): Promise<Awaited<Result> | InvalidInput>
  (...args: [...Args, FormData]): Promise<void>
  (...args: [...Args, ActionState<Awaited<Result>>, FormData]): Promise<ActionState<Awaited<Result>>>
  /** The same action for some leading arguments. */
  bind<Bound extends Partial<Args> & readonly unknown[]>(
    self: null,
    ...bound: Bound
  ): Args extends readonly [...Bound, ...infer Rest] ? Action<Input, Rest, Result> : never
}

/** Marks the functions that `action` has made. */
const ACTION = Symbol.for('millrace.action')

/** What the runtime knows of an action. */
export interface DeclaredAction {
  readonly definition: ActionDefinition<unknown, readonly unknown[], unknown>
  /** Set once by the registry, before any request. */
  id: string | undefined
  /** Where it stands, for messages: `lab/guestbook/actions.server.ts: sign`. Set with the id. */
  name: string | undefined
}

/**
 * Declares an action: a function that runs on the server when a form is sent or a script in the browser calls it. It
 * must be exported, by name, from a file called `actions.server.ts`.
 */
export function action<Input = unknown, Args extends readonly unknown[] = readonly [], Result = void>(
  definition: ActionDefinition<Input, Args, Result>,
): Action<Input, Args, Result> {
  const declared: DeclaredAction = {
    definition: definition as unknown as DeclaredAction['definition'],
    id: undefined,
    name: undefined,
  }
  const reference = createFormReference(declared, [])
  Object.defineProperty(reference, ACTION, { value: declared })
  return reference as unknown as Action<Input, Args, Result>
}

/** What is known of an action; `undefined` for anything else. */
export function declaredAction(value: unknown): DeclaredAction | undefined {
  return typeof value === 'function' ? (value as { [ACTION]?: DeclaredAction })[ACTION] : undefined
}
