/** Reads and restores what a visitor has typed into the controls of a page. */
import type { EntryOwner } from './entry-owner.ts'

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** Input of a control: text, checked state, or the selected values. */
export type Draft = string | boolean | readonly string[]

/** Input by the address of its control. */
export type Drafts = Map<string, Draft>

/** A set of controls. */
export type Controls = WeakSet<EventTarget>

/** Input of controls. */
export type Shown = WeakMap<Control, Draft>

/** Controls whose input was taken back, with what they had and have. */
export type Emptied = Map<Control, readonly [former: Draft, now: Draft]>

/**
 * Keeps what a visitor has typed: for each history entry, as browsers do for documents, and for a page that was taken
 * away from the visitor, until it is shown again. Drops it when somebody else signs in.
 */
export interface DraftKeeper {
  /**
   * Call this directly before a document is loaded.
   * @param pathname of that document; default: the page on screen.
   */
  save(pathname?: string): void
  /**
   * The page on screen is still in the document.
   * @param caught set if only a part of the page is about to be replaced: the kind of fallback of a segment, or empty.
   */
  leaving(caught?: string): void
  /**
   * The page, or other data of it, is in the document.
   * @param kind of the fallback that replaces it; empty for a page.
   * @param isTraversal whether the visitor has moved in the history.
   */
  arrived(kind: string, isTraversal: boolean): void
  /**
   * An answer has told for which sessions it was made.
   * @param marks as `session-marks.ts` has them; of another tab, what it knew before and a line break precede them.
   * @param isCall whether the visitor has called an action.
   * @param startedAt when it was asked for, in milliseconds since the epoch. Default: it is the latest.
   * @param hasLeft whether the request itself has ended the session of a user.
   * @returns `true` if it has come too late, as for `createSessionNews`.
   */
  learn(marks: string | undefined, isCall?: boolean, startedAt?: number, hasLeft?: boolean): unknown
}

/** What it is made of. */
export interface DraftKeeperParts {
  readonly window: Window & typeof globalThis
  /** Of the session; `undefined` if the browser provides none. */
  readonly storage: Storage | undefined
  /** Its key for drafts. */
  readonly name: string
  /** Path of the page on screen; the address bar may be ahead of it. */
  readonly pathname: () => string
  /** Key of the history entry on screen. */
  readonly key: () => string
  /** Its owner: what `now` has been. */
  readonly entry: EntryOwner
  /** Kind of the fallback that the document shows; empty for a page. */
  readonly kind: string
  /** Sessions of the last answer, as `session-marks.ts` has them. */
  readonly marks: string | undefined
  /** Whether the document is of a user who has left. */
  readonly isFormer: boolean
  /** Sessions that say whose the page on screen is. */
  readonly now: () => string
  /** Whether these were the sessions of a user who is not in them any more. */
  readonly isOthers: (former: string) => boolean
  /** Controls that a visitor has typed in. */
  readonly typed: Controls
}

const CONTROLS = 'input,textarea,select'
const SEARCH = ' get'
const MAX_LENGTH = 65_536 // characters of the drafts of one page; nobody types more into a form
const NOT_TYPED = /^(?:password|file|hidden|submit|button|reset|image)$/
const NOT_KEPT = /\b(?:off\b|cc-|one-time-code|(?:current|new)-password)/i
const SHOWN_BY = ['type', 'min', 'max', 'step', 'multiple'] // how a browser shows the default of a field
const SECRET_NAME = /passw|passphrase/i // "show password" makes it a text field

/**
 * Adds the controls that differ from the server's HTML, or that a visitor has typed in, and removes the others. Never
 * adds passwords, files, payment details, codes, or fields with `autocomplete="off"`.
 * @param drafts of controls that have not appeared yet.
 * @param kind of the fallback on screen; empty for a page.
 * @param controls `typed`: frameworks also write the value into the default, so that a comparison alone finds nothing.
 * `foreign`: not to be added before the visitor types in them. `untouched`: not to be added while they have that input.
 */
export function readDrafts(
  document: Document,
  drafts: Drafts,
  kind: string,
  { typed, foreign, untouched }: Readonly<Record<'typed' | 'foreign', Controls>> & { readonly untouched: Shown },
): void {
  const controls = controlsOf(document, kind)
  for (const [address] of controls) drafts.delete(address)
  let room = MAX_LENGTH
  for (const [address, value] of drafts) room -= address.length + String(value).length
  for (const [address, control] of controls) {
    const value = valueOf(control)
    const isOwn = !foreign.has(control) && isDirty(control) && !isSame(value, untouched.get(control))
    if (!typed.has(control) && !isOwn) continue
    const length = address.length + String(value).length
    if (length > room) continue
    room -= length
    drafts.set(address, value)
  }
}

/** Notes what controls show that have no input. */
export function noteUntouched(document: Document, typed: Controls, untouched: Shown): void {
  for (const control of document.querySelectorAll<Control>(CONTROLS)) {
    if (!typed.has(control) && !isDirty(control)) untouched.set(control, valueOf(control))
  }
}

/**
 * Restores the input of `readDrafts` in the controls that are there, and removes it from the drafts.
 * @param keeps whether a control keeps what it has. @param isSame whether that is the input.
 */
export function restoreDrafts(
  document: Document,
  drafts: Drafts,
  kind: string,
  keeps: (control: Control, isSame: boolean) => boolean,
): void {
  for (const [address, control] of drafts.size > 0 ? controlsOf(document, kind) : []) {
    const value = drafts.get(address)
    if (value === undefined) continue
    drafts.delete(address)
    const isEqual = isSame(value, valueOf(control))
    // The browser restores input itself, without events or before components hear them.
    if (!keeps(control, isEqual) && (isDirty(control) || !isEqual)) setValue(control, value)
  }
}

/**
 * The controls of a page whose visitor has become somebody else. Without events: a page that saves what changes would save it
 * for whoever is here now. The page is loaded as a document.
 * @param taken what to take back: nothing, what the visitor has typed and chosen, or also what the browser has restored.
 * @param emptied gets those that have lost something.
 */
export function disown(
  document: Document,
  typed: Controls,
  taken: 'nothing' | 'typed' | 'restored',
  emptied: Emptied,
): Controls {
  const controls = [...document.querySelectorAll<Control>(CONTROLS)]
  const former = controls.map(valueOf)
  for (const control of taken === 'nothing' ? [] : controls) {
    if (isCheckable(control) || 'options' in control) {
      // Not whatever differs from its default: a framework may have set it. It has not had the time for it in a new document.
      if (taken === 'restored' ? isDirty(control) : typed.has(control)) takeBack(control, controls)
    }
    // A framework has written what was typed into the default.
    else if (isDirty(control)) control.value = control.defaultValue
    else if (typed.has(control)) control.value = ''
  }
  for (const [at, control] of controls.entries()) {
    typed.delete(control)
    const change = [former[at] ?? '', valueOf(control)] as const
    if (!isSame(...change)) emptied.set(control, change)
  }
  return new WeakSet(controls)
}

/** Without events, as it was taken: an event would change what components hold of it. Nobody gets a password or a file. */
export function giveBack(emptied: Emptied, typed: Controls): void {
  for (const [control, [former, now]] of emptied) {
    if (!control.isConnected || !isSame(now, valueOf(control))) continue
    typed.add(control)
    if (NOT_TYPED.test(control.type)) setValue(control, now, former)
    else if (isCheckable(control)) control.checked = former === true
    else if ('options' in control) choose(control, former)
    else control.value = String(former)
  }
  emptied.clear()
}

/** Chooses what the document had chosen. @param controls of the document. */
function takeBack(control: Control, controls: readonly Control[]): void {
  if ('options' in control) {
    const options = [...control.options]
    for (const option of options) option.selected = option.defaultSelected
    // A single-line list without any default shows its first option.
    if (control.type === 'select-one' && !options.some(({ defaultSelected }) => defaultSelected))
      control.selectedIndex = 0
    return
  }
  const { form, type, name } = control as HTMLInputElement
  for (const one of type === 'radio' ? controls : [control]) {
    if (isCheckable(one) && one.form === form && one.name === name && one.type === type)
      one.checked = one.defaultChecked
  }
}

/** Whether the page has input of a visitor, who may have typed it before this code has loaded. */
export function hasInput(document: Document, typed: Controls): boolean {
  const controls = document.querySelectorAll<Control>(`${CONTROLS},[contenteditable]`)
  return [...controls].some((one) => typed.has(one) || isDirty(one))
}

/** Controls of a form. Not by its properties, which may be its controls. */
export function controlsIn(form: EventTarget | null): readonly Control[] {
  return form instanceof HTMLFormElement
    ? [...document.querySelectorAll<Control>(CONTROLS)].filter((one) => one.form === form)
    : []
}

/** Controls that may be saved, with their address in a new document: form, name, and position among equals. */
function controlsOf(document: Document, kind: string): readonly (readonly [address: string, control: Control])[] {
  const counts = new Map<string, number>()
  return [...document.querySelectorAll<Control>(CONTROLS)].flatMap((control) => {
    const { form, type } = control
    const search = /^get$/i.test(nameOf(form, 'method')) ? SEARCH : ''
    const place = kind + formName(form) + '\n' + nameOf(control, 'name', 'id') + '\n' + type + search
    const count = counts.get(place) ?? 0
    counts.set(place, count + 1)
    const hints = nameOf(form, 'autocomplete') + ' ' + nameOf(control, 'autocomplete')
    const isSecret = NOT_TYPED.test(type) || NOT_KEPT.test(hints) || SECRET_NAME.test(place)
    return isSecret ? [] : [[`${place}\n${count}`, control] as const]
  })
}
/** Whether an address is that of a control for search params, which shows those of the URL after Back and Forward. */
export function isForSearch(address: string): boolean {
  return address.includes(`${SEARCH}\n`)
}

/** React writes other action URLs than the server: such a form has no name by its URL. */
function formName(form: HTMLFormElement | null): string {
  return nameOf(form, 'id', 'name') || nameOf(form, 'action').replace(/^javascript:.*|.*[?&]_action=.*/s, '')
}

/** The first of these attributes with a value. */
function nameOf(element: Element | null, ...attributes: readonly string[]): string {
  // Not by `form-members.ts`: a module that the router imports too would become a file of its own.
  const read = (attribute: string): string | null => element && Element.prototype.getAttribute.call(element, attribute)
  return attributes.map(read).find(Boolean) ?? ''
}

function isCheckable(control: Control): control is HTMLInputElement {
  return control.type === 'checkbox' || control.type === 'radio'
}

function isDirty(control: Control): boolean {
  if (isCheckable(control)) return control.checked !== control.defaultChecked
  if (!('options' in control)) return control.value !== control.defaultValue && control.value !== shownDefault(control)
  const options = [...control.options]
  // Without any default, a single-line list shows its first option.
  const first = control.type === 'select-one' && !options.some(({ defaultSelected }) => defaultSelected)
  return options.some(
    ({ selected, defaultSelected }, index) => selected !== (defaultSelected || (first && index === 0)),
  )
}

/** The default as a browser shows it: other line breaks, a number, the middle of a range. */
function shownDefault(control: HTMLInputElement | HTMLTextAreaElement): string {
  const blank = control.ownerDocument.createElement(control.localName) as typeof control
  for (const name of SHOWN_BY) {
    const value = control.getAttribute(name)
    if (value !== null) blank.setAttribute(name, value)
  }
  blank.defaultValue = control.defaultValue
  return blank.value
}

function valueOf(control: Control): Draft {
  if (isCheckable(control)) return control.checked
  return 'options' in control ? [...control.selectedOptions].map(({ value }) => value) : control.value
}

function choose({ options }: HTMLSelectElement, values: Draft): void {
  for (const option of options) option.selected = Array.isArray(values) && values.includes(option.value)
}

function isSame(one: Draft, other: Draft | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** With the events that typing would cause. @param former what frameworks may still hold. */
function setValue(control: Control, value: Draft, former: Draft = ''): void {
  if (isCheckable(control)) {
    // A radio button is cleared when another one is set.
    if (control.type === 'radio' && value !== true) return
    control.checked = value !== true
    return control.click()
  }
  if ('options' in control) {
    choose(control, value)
  } else if (control.type !== 'file') {
    // React tracks assignments to the element's value and ignores equal ones, so assign something different first. An
    // empty draft belongs to a control with a default value.
    control.value = value ? '' : String(former || control.defaultValue)
    Reflect.set(Object.getPrototypeOf(control) as object, 'value', value, control)
  }
  for (const type of ['input', 'change']) control.dispatchEvent(new Event(type, { bubbles: true }))
}
