import type { FormField } from './form-fields.ts'

/** What a visitor puts into a field: `true` and `false` are for a checkbox, a list for several values. */
export type FieldValue = string | number | boolean | File | readonly (string | number | File)[]

/** Values by the names of the fields. */
export type FieldValues = Readonly<Record<string, FieldValue>>

/** A form that cannot be filled in or sent as asked; the message names the form, its fields, and the way out. */
export class FormError extends Error {
  override readonly name = 'FormError'
}

/**
 * Fills fields in, as a visitor does.
 * @param title of the form, for messages.
 * @throws {FormError} for a name that no field has, and a value that its field cannot have.
 */
export function fillForm(title: string, fields: readonly FormField[], values: FieldValues): void {
  for (const [name, value] of Object.entries(values)) {
    const named = fields.filter((field) => field.name === name && field.kind !== 'button')
    const usable = named.filter(({ isDisabled }) => !isDisabled)
    const [first] = usable
    if (first === undefined)
      throw new FormError(named.length > 0 ? disabled(title, name) : unknown(title, name, fields))
    const fault = FILLERS[first.kind](usable, value)
    if (fault !== undefined) throw new FormError(`The field ${quoted(name)} of ${title} ${fault}.`)
  }
}

/** Puts a value into fields of one name; returns the fault of the value. */
type Filler = (fields: readonly FormField[], value: FieldValue) => string | undefined

const FILLERS: Readonly<Record<FormField['kind'], Filler>> = {
  text: fillTexts,
  hidden: fillTexts,
  checkbox: fillCheckboxes,
  radio: fillRadios,
  select: fillSelect,
  file: fillFiles,
  button: () => 'is a button: choose it by the selector',
}

function fillTexts(fields: readonly FormField[], value: FieldValue): string | undefined {
  const texts = [value].flat()
  if (texts.length !== fields.length && (Array.isArray(value) || fields.length === 0)) {
    return `takes ${counted(fields.length, 'text')}, not ${texts.length}`
  }
  for (const [at, text] of texts.entries()) {
    const [field] = fields.slice(at)
    if (typeof text !== 'string' && typeof text !== 'number') return `takes text, not ${kindOf(text)}`
    if (field !== undefined) field.values = [String(text)]
  }
  return undefined
}

function fillCheckboxes(fields: readonly FormField[], value: FieldValue): string | undefined {
  if (typeof value === 'boolean') {
    const [field] = fields
    if (field === undefined || fields.length > 1) return `is ${fields.length} checkboxes: list the values to check`
    field.checked = value
    return undefined
  }
  const wanted = [value].flat().map(String)
  const missing = wanted.find((text) => fields.every((field) => field.values[0] !== text))
  if (missing !== undefined)
    return offers(
      missing,
      fields.map(({ values }) => String(values[0])),
    )
  for (const field of fields) field.checked = wanted.includes(String(field.values[0]))
  return undefined
}

function fillRadios(fields: readonly FormField[], value: FieldValue): string | undefined {
  const options = fields.map(({ values }) => String(values[0]))
  if (Array.isArray(value) || !options.includes(String(value))) return offers(String(value), options)
  for (const field of fields) field.checked = field.values[0] === String(value)
  return undefined
}

function fillSelect([field]: readonly FormField[], value: FieldValue): string | undefined {
  if (field === undefined) return undefined
  const wanted = [value].flat().map(String)
  const missing = wanted.find((text) => !field.options.includes(text))
  if (missing !== undefined) return offers(missing, field.options)
  if (wanted.length > 1 && !field.isMultiple) return 'takes one of its options'
  field.values = wanted
  return undefined
}

function fillFiles([field]: readonly FormField[], value: FieldValue): string | undefined {
  if (field === undefined) return undefined
  const files = [value].flat()
  const stranger = files.find((file) => !(file instanceof File))
  if (stranger !== undefined) return `takes a File, not ${kindOf(stranger)}`
  if (files.length > 1 && !field.isMultiple) return 'takes one file: it lacks the attribute multiple'
  field.values = files as readonly File[]
  return undefined
}

const MOST_NAMED = 20 // nobody reads more

function offers(value: string, options: readonly string[]): string {
  return `does not offer ${quoted(value)}, but ${listed(options)}`
}

function unknown(title: string, name: string, fields: readonly FormField[]): string {
  const names = fields.flatMap((field) => (isNamed(field) ? field.name : []))
  const known = [...new Set(names)]
  const has = known.length === 0 ? 'It has no fields' : `Its fields are ${listed(known)}`
  return `${title} has no field ${quoted(name)}. ${has}.`
}

/** Fields of the runtime, such as the id of an action, are not what a test has mistyped. */
function isNamed({ name, kind }: FormField): boolean {
  return name !== '' && kind !== 'button' && !name.startsWith('$ACTION_')
}

function disabled(title: string, name: string): string {
  return `The field ${quoted(name)} of ${title} is disabled: nobody can fill it in.`
}

function listed(texts: readonly string[]): string {
  const more = texts.length > MOST_NAMED ? ` and ${texts.length - MOST_NAMED} more` : ''
  return texts.slice(0, MOST_NAMED).map(quoted).join(', ') + more
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function kindOf(value: unknown): string {
  return value instanceof File ? 'a File' : typeof value
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
