import type { InvalidInput } from './action-result.ts'

/** The state of `useActionState`: `null` at first, then the handler's result, or the faults of a refused input. */
export type ActionState<Result> = Result | InvalidInput | null

/**
 * An action as pages see it: for `<form action>`, `formAction` and `useActionState`, and for calls by scripts. A component
 * takes one as a prop: `Action` is any action that needs no more arguments, `Action<never, [id: number]>` one that the
 * component binds a number to, and `Action<never, [], Saved>` one whose result it shows.
 * @typeParam Input what scripts may pass instead of a `FormData`; `never` takes the action of any schema.
 * @typeParam Args the arguments that are still to be bound.
 * @typeParam Result what the handler returns.
 */
export type Action<Input = never, Args extends readonly unknown[] = readonly [], Result = unknown> = {
  (...args: [...Args, Input | FormData]): Promise<Awaited<Result> | InvalidInput>
  (...args: [...Args, FormData]): Promise<void>
  /** The same action with some leading arguments bound. */
  bind<Bound extends Leading<Args>>(self: null, ...bound: Bound): Action<Input, Remaining<Args, Bound>, Result>
} & StateCall<Args, Awaited<Result>>

// A method's parameters are compared both ways: a component that ignores the result takes the action of any.
type StateCall<Args extends readonly unknown[], Result> = {
  call(...args: [...Args, ActionState<Result>, FormData]): Promise<ActionState<Result>>
}['call']

type Leading<Args extends readonly unknown[]> = Args extends readonly [infer First, ...infer More]
  ? readonly [First] | readonly [First, ...Leading<More>]
  : readonly []

type Remaining<Args extends readonly unknown[], Bound extends readonly unknown[]> = Args extends readonly [
  ...{ [Index in keyof Bound]: unknown },
  ...infer More,
]
  ? More
  : readonly []
