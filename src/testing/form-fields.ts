/** The fields of a form, and what they hold before anybody has typed: sections 4.10.17 and 4.10.18 of the HTML standard. */
import { ancestorOf, attributeOf, documentOf, elementsIn, parentOf, textOf, type HtmlNode } from './html-tree.ts'

/** One field of a form, and what it would send. */
export interface FormField {
  readonly node: HtmlNode
  readonly kind: 'text' | 'hidden' | 'checkbox' | 'radio' | 'select' | 'file' | 'button'
  /** `''` without a name: it is not sent. */
  readonly name: string
  /** Such a field is not sent, and nobody can fill it in. */
  readonly isDisabled: boolean
  /** Of checkboxes and radio buttons. */
  checked: boolean
  /** What it sends; of a select all chosen options. */
  values: readonly (string | File)[]
  /** Of a select: what may be chosen. */
  readonly options: readonly string[]
  /** Whether it takes several values. */
  readonly isMultiple: boolean
}

const CONTROLS: ReadonlySet<string> = new Set(['input', 'button', 'select', 'textarea'])
const BUTTON_TYPES: ReadonlySet<string> = new Set(['submit', 'image', 'button', 'reset'])
const KINDS: Readonly<Record<string, FormField['kind']>> = {
  hidden: 'hidden',
  checkbox: 'checkbox',
  radio: 'radio',
  file: 'file',
}

/** The fields and buttons that belong to a form, wherever they are in the page, in its order. */
export function formFields(form: HtmlNode): FormField[] {
  const ids = new Map<string, HtmlNode>()
  const controls: HtmlNode[] = []
  for (const node of elementsIn(documentOf(form))) {
    const id = attributeOf(node, 'id')
    if (id !== undefined && !ids.has(id)) ids.set(id, node)
    if (CONTROLS.has(node.tagName)) controls.push(node)
  }
  const fields = controls.filter((node) => formOf(node, (id) => ids.get(id)) === form).map(readField)
  const lastChecked = new Map(
    fields.flatMap((field) => (field.kind === 'radio' && field.checked ? [[field.name, field]] : [])),
  )
  for (const field of fields) {
    if (field.kind === 'radio') field.checked = lastChecked.get(field.name) === field
  }
  return fields
}

/**
 * The form to which an element belongs: the one that its `form` attribute names, otherwise the one around it.
 * @param byId finds the first element with an id.
 */
export function formOf(
  node: HtmlNode,
  byId: (id: string) => HtmlNode | undefined = (id) =>
    [...elementsIn(documentOf(node))].find((one) => attributeOf(one, 'id') === id),
): HtmlNode | undefined {
  const id = attributeOf(node, 'form')
  if (id === undefined) return ancestorOf(node, 'form')
  const named = byId(id)
  return named?.tagName === 'form' ? named : undefined
}

/** `submit`, `image`, `text`: in lower case, with the default of the element. */
export function typeOf(node: HtmlNode): string {
  const type = attributeOf(node, 'type')?.toLowerCase()
  if (node.tagName === 'button') return type === 'reset' || type === 'button' ? type : 'submit'
  return type ?? 'text'
}

/** Whether a button sends its form. */
export function isSubmitButton(node: HtmlNode): boolean {
  return (node.tagName === 'button' || node.tagName === 'input') && /^(?:submit|image)$/.test(typeOf(node))
}

function readField(node: HtmlNode): FormField {
  const name = attributeOf(node, 'name') ?? ''
  const type = typeOf(node)
  const isButton = node.tagName === 'button' || (node.tagName === 'input' && BUTTON_TYPES.has(type))
  const base = { node, name, isDisabled: isDisabled(node), checked: false, options: [], isMultiple: false }
  const isMultiple = attributeOf(node, 'multiple') !== undefined
  if (isButton) return { ...base, kind: 'button', values: [attributeOf(node, 'value') ?? ''] }
  if (node.tagName === 'select') return { ...base, kind: 'select', isMultiple, ...readOptions(node, isMultiple) }
  if (node.tagName === 'textarea') return { ...base, kind: 'text', values: [textOf(node)] }
  const kind = KINDS[type] ?? 'text'
  if (kind === 'file') return { ...base, kind, isMultiple, values: [] }
  if (kind === 'checkbox' || kind === 'radio') {
    const checked = attributeOf(node, 'checked') !== undefined
    return { ...base, kind, checked, values: [attributeOf(node, 'value') ?? 'on'] }
  }
  return { ...base, kind, values: [initialText(node, type)] }
}

function initialText(node: HtmlNode, type: string): string {
  const value = attributeOf(node, 'value') ?? ''
  if (type === 'color') return /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : '#000000'
  if (type !== 'range' || value !== '') return type === 'hidden' ? value : value.replace(/[\r\n]/g, '')
  const [least, most] = [Number(attributeOf(node, 'min') ?? 0), Number(attributeOf(node, 'max') ?? 100)]
  return String(most < least ? least : least + (most - least) / 2)
}

function readOptions(select: HtmlNode, isMultiple: boolean) {
  const all = [...elementsIn(select)].filter((node) => node.tagName === 'option')
  const usable = all.filter((node) => !isDisabledOption(node))
  const chosen = all.filter((node) => attributeOf(node, 'selected') !== undefined)
  const isList = Number(attributeOf(select, 'size') ?? 0) > 1
  // A list of one line always shows an option: the last one that is marked, or the first one that may be chosen.
  const shown = isMultiple ? chosen : (chosen.slice(-1)[0] ?? (isList ? undefined : usable[0]) ?? [])
  return {
    values: [shown]
      .flat()
      .filter((node) => usable.includes(node))
      .map(optionValue),
    options: usable.map(optionValue),
  }
}

function optionValue(option: HtmlNode): string {
  return (
    attributeOf(option, 'value') ??
    textOf(option)
      .replace(/[\t\n\f\r ]+/g, ' ')
      .trim()
  )
}

function isDisabledOption(option: HtmlNode): boolean {
  if (attributeOf(option, 'disabled') !== undefined) return true
  const group = parentOf(option)
  return group?.tagName === 'optgroup' && attributeOf(group, 'disabled') !== undefined
}

/** By its own attribute, or by a fieldset around it, unless it is in the legend of that. */
function isDisabled(node: HtmlNode): boolean {
  if (attributeOf(node, 'disabled') !== undefined || ancestorOf(node, 'datalist') !== undefined) return true
  let inner = node
  for (let outer = parentOf(node); outer !== undefined; inner = outer, outer = parentOf(outer)) {
    if (outer.tagName !== 'fieldset' || attributeOf(outer, 'disabled') === undefined) continue
    const legend = outer.childNodes.find((child) => child.nodeName === 'legend')
    if (inner !== legend) return true
  }
  return false
}
