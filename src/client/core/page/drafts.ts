/** Keeps a visitor's typed input across one document load that the visitor did not ask for. */

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** Address of a control, and its input: text, checked state, or the selected values. */
type Draft = readonly [address: string, value: string | boolean | readonly string[]]

const STORAGE_KEY = 'millrace:drafts'
const MAX_LENGTH = 65_536 // characters of all drafts; nobody types more into a form
const NOT_TYPED = /^(?:password|file|hidden|submit|button|reset|image)$/
const NOT_KEPT = /\b(?:off\b|cc-|one-time-code|(?:current|new)-password)/i

/**
 * Saves the controls that differ from the server's HTML, or that the caller marks as typed in. Never saves passwords,
 * files, payment details, codes, or fields with `autocomplete="off"`.
 * @param pathname of the page with the controls.
 * @param typed controls that a visitor has typed in: frameworks also write the value into the default, so that a
 * comparison alone finds nothing.
 */
export function saveDrafts(
  document: Document,
  storage: Storage | undefined,
  pathname: string,
  typed: Pick<WeakSet<EventTarget>, 'has'>,
): void {
  const drafts: Draft[] = []
  let room = MAX_LENGTH
  for (const [address, control] of controlsOf(document)) {
    if (!typed.has(control) && !isDirty(control)) continue
    const value = valueOf(control)
    const length = address.length + String(value).length
    if (length > room) continue
    room -= length
    drafts.push([address, value])
  }
  try {
    if (drafts.length > 0) storage?.setItem(STORAGE_KEY, JSON.stringify([pathname, drafts]))
    else storage?.removeItem(STORAGE_KEY)
  } catch {
    // A full or forbidden storage loses drafts; the load continues.
  }
}

/** Restores the input of `saveDrafts`, if this is the same page. Once: it clears the storage. */
export function restoreDrafts(document: Document, storage: Storage | undefined): void {
  try {
    const text = storage?.getItem(STORAGE_KEY)
    if (!text) return
    storage?.removeItem(STORAGE_KEY)
    const [pathname, saved] = JSON.parse(text) as [unknown, readonly Draft[]]
    if (pathname !== document.location.pathname) return
    const drafts = new Map(saved)
    for (const [address, control] of controlsOf(document)) {
      const value = drafts.get(address)
      if (value === undefined) continue
      // Firefox restores input itself, without events.
      if (isDirty(control) || JSON.stringify(value) !== JSON.stringify(valueOf(control))) setValue(control, value)
    }
  } catch {
    // Another script or version has left something else there.
  }
}

/** Controls that may be saved, with their address in a new document: form, name, and position among equals. */
function controlsOf(document: Document): readonly (readonly [address: string, control: Control])[] {
  const counts = new Map<string, number>()
  return [...document.querySelectorAll<Control>('input,textarea,select')].flatMap((control) => {
    const { form, type } = control
    const place = formName(form) + '\n' + nameOf(control, 'name', 'id') + '\n' + type
    const count = counts.get(place) ?? 0
    counts.set(place, count + 1)
    const hints = nameOf(form, 'autocomplete') + ' ' + nameOf(control, 'autocomplete')
    return NOT_TYPED.test(type) || NOT_KEPT.test(hints) ? [] : [[`${place}\n${count}`, control] as const]
  })
}

/** React writes other action URLs than the server: such a form has no name by its URL. */
function formName(form: HTMLFormElement | null): string {
  return nameOf(form, 'id', 'name') || nameOf(form, 'action').replace(/^javascript:.*|.*[?&]_action=.*/s, '')
}

/** The first of these attributes with a value. Attributes, because a form's properties may be its controls. */
function nameOf(element: Element | null, ...attributes: readonly string[]): string {
  return attributes.map((attribute) => element?.getAttribute(attribute)).find(Boolean) ?? ''
}

function isCheckable(control: Control): control is HTMLInputElement {
  return control.type === 'checkbox' || control.type === 'radio'
}

function isDirty(control: Control): boolean {
  if (isCheckable(control)) return control.checked !== control.defaultChecked
  if (!('options' in control)) return control.value !== control.defaultValue
  const options = [...control.options]
  // Without any default, a single-line list shows its first option.
  const first = control.type === 'select-one' && !options.some(({ defaultSelected }) => defaultSelected)
  return options.some(
    ({ selected, defaultSelected }, index) => selected !== (defaultSelected || (first && index === 0)),
  )
}

function valueOf(control: Control): Draft[1] {
  if (isCheckable(control)) return control.checked
  return 'options' in control ? [...control.selectedOptions].map(({ value }) => value) : control.value
}

/** With the events that typing would cause. */
function setValue(control: Control, value: Draft[1]): void {
  if (isCheckable(control)) {
    // A radio button is cleared when another one is set.
    if (control.type === 'radio' && value !== true) return
    control.checked = value !== true
    return control.click()
  }
  if ('options' in control) {
    for (const option of control.options) option.selected = Array.isArray(value) && value.includes(option.value)
  } else {
    // React tracks assignments to the element's value and ignores equal ones, so assign something different first. An
    // empty draft belongs to a control with a default value.
    control.value = value ? '' : control.defaultValue
    Reflect.set(Object.getPrototypeOf(control) as object, 'value', value, control)
  }
  for (const type of ['input', 'change']) control.dispatchEvent(new Event(type, { bubbles: true }))
}
