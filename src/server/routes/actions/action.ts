import type { FailedAction } from '../../../shared/action-result.ts'
import type { Action } from '../../../shared/action-types.ts'
import type { Schema } from '../../../shared/schema.ts'
import type { TextsPage } from '../../../shared/texts.ts'
import type { LoaderContext } from '../../api/loader-types.ts'
import type { NamedAction } from '../../request/named-action.ts'
import { createFormReference } from '../render/form-reference.ts'
import type { UploadedFile } from '../../http/body/uploaded-file.ts'

/** Limits for files that are too large for memory. */
export interface UploadLimits {
  /** Maximum number of files in one call. */
  readonly files: number
  /** Maximum bytes of one file. */
  readonly fileBytes: number
  /** Maximum bytes of the whole body; default: all files at their limit, plus a megabyte. */
  readonly totalBytes?: number | undefined
}

/** Argument of a handler. */
export interface ActionCall<Input = unknown, Args extends readonly unknown[] = readonly []> {
  /** The form's fields or the JSON argument, parsed by the schema. */
  readonly input: Input
  /**
   * Arguments that the page has bound. Visitors can change them in the browser, like any field: they do not authorise
   * anything.
   */
  readonly args: Args
  /** The previous state of `useActionState`, as the client sends it; `undefined` without one. */
  readonly state: unknown
  /** With `upload`: the files, in the order of the form, after all fields that precede the first one. */
  readonly files: AsyncIterable<UploadedFile>
  /** Of the page that contains the form, as the URL has them: no schema has parsed them. */
  readonly params: Readonly<Record<string, string | readonly string[]>>
  /** The page's own request, as a loader would get it: without the body. Its `url` has the page's search params. */
  readonly request: Request
  /** Aborted when the client disconnects before the answer. Do not pass it to work that must be finished all the same. */
  readonly signal: AbortSignal
  readonly context: LoaderContext
  /**
   * Drops data by the tags that loaders have named, or by paths (`/mills`, `/mills/*`): from the cache of the browser that
   * calls the action, and from the caches of all server processes. Browsers that listen to an event stream with these targets
   * drop it too. The data of the page on screen is always loaded again.
   */
  revalidate(...targets: readonly string[]): void
}

/** Definition of an action. */
export interface ActionDefinition<
  Input,
  Args extends readonly unknown[],
  Result,
  Failure extends 'page' | 'state' = 'page' | 'state',
> {
  /** Validates the input before the handler runs. Without one, the handler gets the raw input as `unknown`. */
  readonly input?: Schema<Input> | undefined
  /** A tuple schema: the arguments that the page binds before the input (`remove.bind(null, id)`). Default: none. */
  readonly args?: Schema<Args> | undefined
  /**
   * Names of fields whose text is never sent back to a page. Fields that are named like passwords need not be listed.
   */
  readonly secret?: readonly string[] | undefined
  /** Maximum bytes of a body; default: `ACTION_BODY_LIMIT`. Not used with `upload`. */
  readonly bodyLimit?: number | undefined
  /**
   * `false` for actions that must work for visitors whom the page's guards refuse, such as signing in on the page of a
   * 401: the guards are then skipped. Default: `true`.
   */
  readonly guarded?: boolean | undefined
  /**
   * What a failure of the handler does. `'page'`: the nearest `error` page replaces the page. `'state'`: a form with
   * `useActionState` gets a `FailedAction` as its state, and its page stays; calls without a state fail as with `'page'`.
   * The failure is logged and reported in both cases. Default: `'page'`.
   */
  readonly failure?: Failure | undefined
  /** Error text at the field of a file that is over a limit. Default: the application's `texts`, which name the limit. */
  readonly tooLarge?: string | ((page: TextsPage) => string) | undefined
  /** Streams files to the handler. Without it they are held in memory, as part of the body. */
  readonly upload?: UploadLimits | undefined
  /** May throw what a loader may: `redirect()`, `notFound()` and so on. */
  handler(call: ActionCall<Input, Args>): Result | Promise<Result>
}

/** Marks functions made by `action`. */
const ACTION = Symbol.for('millrace.action')

/** The runtime's knowledge of an action. */
export interface DeclaredAction extends NamedAction {
  readonly definition: ActionDefinition<unknown, readonly unknown[], unknown>
}

/**
 * Declares an action: a function that runs on the server when a form is sent or a script in the browser calls it.
 * Export it by name, from a file called `actions.server.ts`.
 * @example
 * ```ts
 * import { action, redirect } from 'millrace/server'
 * import { z } from 'zod'
 *
 * export const add = action({
 *   input: z.object({ name: z.string().min(1).max(80) }),
 *   async handler({ input, revalidate }) {
 *     await addMill(input.name, 1)
 *     revalidate('mills')
 *     redirect('/mills')
 *   },
 * })
 * ```
 */
export function action<
  Input = unknown,
  Args extends readonly unknown[] = readonly [],
  Result = void,
  Failure extends 'page' | 'state' = 'page',
>(definition: ActionDefinition<Input, Args, Result, Failure>): Action<Input, Args, ResultOf<Result, Failure>> {
  const declared: DeclaredAction = {
    definition: definition as unknown as DeclaredAction['definition'],
    id: undefined,
    name: undefined,
  }
  const reference = createFormReference(declared, [])
  Object.defineProperty(reference, ACTION, { value: declared })
  return reference as unknown as Action<Input, Args, ResultOf<Result, Failure>>
}

/** With `failure: 'state'` the state may be a failure too. */
type ResultOf<Result, Failure> = Failure extends 'state'
  ? ([Result] extends [void] ? undefined : Result) | FailedAction
  : Result

/** The declaration of an action; `undefined` for anything else. */
export function declaredAction(value: unknown): DeclaredAction | undefined {
  return typeof value === 'function' ? (value as { [ACTION]?: DeclaredAction })[ACTION] : undefined
}
