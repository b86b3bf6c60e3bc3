import { useCallback, useId, useMemo, useState } from 'react'
import { hasTypedInput } from '../../shared/action-result.ts'
import { useLatest } from './use-latest.ts'

/** Options of `useField`. */
export interface FieldOptions {
  /** Id of the control; those of hint and error follow from it. Default: a generated one. */
  readonly id?: string | undefined
  /** Value before anything was typed; a list for boxes of one name. */
  readonly value?: string | readonly string[] | undefined
  /** Whether the page shows a hint with `hintId`. Default: `false`. */
  readonly hint?: boolean | undefined
  /** Counts what is typed, for `length`. Default: UTF-16 units, as `maxLength` and schemas count. */
  readonly count?: ((text: string) => number) | undefined
}

/** Props of an input, a select or a text area. */
export interface ControlProps {
  readonly id: string
  readonly name: string
  /** What was typed, after a refusal; else the first value. */
  readonly defaultValue: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: true
  /** On the first wrong field: without JavaScript, the browser begins there. */
  readonly autoFocus?: true
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void
}

/** A field of a form with an action. */
export interface FieldParts {
  /** Props of the input, select or text area. */
  readonly control: ControlProps
  /** Id for the element with the hint. */
  readonly hintId: string
  /** Id for the element with the error. */
  readonly errorId: string
  /** First message of its fault; `undefined` without one. */
  readonly error: string | undefined
  /** All messages. */
  readonly errors: readonly string[]
  /** Its values: what was typed, after a refusal; else the first ones. */
  readonly values: readonly string[]
  /** Whether files of this field have to be chosen again. */
  readonly omitted: boolean
  /** How much was typed; `undefined` before that, and without JavaScript. */
  readonly length: number | undefined
}

/**
 * Connects a field with the state of its form: value, error, and the ids that connect them for screen readers. The result is the
 * same object until one of these changes.
 * @param name of the field, as the form has it.
 * @param state of `useActionState`. Besides refused inputs and failures, any state whose `values` hold what was typed.
 */
export function useField(name: string, state: unknown, options: FieldOptions = {}): FieldParts {
  const { value = '', hint = false, count = lengthOf } = options
  const generated = useId()
  const id = options.id ?? generated
  const [typed, setTyped] = useState<{ readonly length: number; readonly state: unknown }>()
  const latest = useLatest({ count, state })
  const onInput = useCallback<ControlProps['onInput']>(
    ({ currentTarget }) => {
      const { count: measure, state: of } = latest.current
      setTyped({ length: measure(currentTarget.value), state: of })
    },
    [latest],
  )
  // React resets the form with the next state.
  const length = typed?.state === state ? typed?.length : undefined
  return useMemo(() => {
    const { errors: all, values: kept, omitted } = Object(state) as FormState
    const errors = ownOf(all, name) ?? []
    // A box that is not ticked sends nothing: once something was sent, the first value is over.
    const values = [hasTypedInput(state) ? (ownOf(kept, name) ?? []) : (ownOf(kept, name) ?? value)].flat()
    const isWrong = errors.length > 0
    const [hintId, errorId] = [`${id}-hint`, `${id}-error`]
    const described = [isWrong && errorId, hint && hintId].filter(Boolean).join(' ')
    const isFirst = isWrong && Object.keys(all ?? {}).find((one) => one !== '') === name
    return {
      control: {
        id,
        name,
        defaultValue: values[0] ?? '',
        ...(described !== '' && { 'aria-describedby': described }),
        ...(isWrong && { 'aria-invalid': true }),
        ...(isFirst && { autoFocus: true }),
        onInput,
      },
      hintId,
      errorId,
      error: errors[0],
      errors,
      values,
      omitted: omitted?.includes(name) === true,
      length,
    }
  }, [id, name, state, value, hint, length, onInput])
}

interface FormState {
  readonly errors?: Readonly<Record<string, readonly string[]>>
  readonly values?: Readonly<Record<string, string | readonly string[]>>
  readonly omitted?: readonly string[]
}

/** Values that have been decoded have a prototype, whose members are not fields. */
function ownOf<Value>(members: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined
}

function lengthOf(text: string): number {
  return text.length
}
