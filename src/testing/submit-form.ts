import { fillForm, FormError, type FieldValues } from './fill-form.ts'
import { formFields, formOf, isSubmitButton, typeOf, type FormField } from './form-fields.ts'
import { attributeOf, parentOf, parseHtml, type HtmlNode, type HtmlTree } from './html-tree.ts'

/** What a form sends: a name, and text or a file. */
export type FormEntry = readonly [name: string, value: string | File]

/** The request of a form: `fetch(new URL(form.url, origin), form)`, or supertest's `.post(form.url).set(form.headers).send(form.body)`. */
export interface FormRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query; with the origin if that differs from the page's. */
  readonly url: string
  /** `Content-Type`, if there is a body. */
  readonly headers: Readonly<Record<string, string>>
  /** Absent for `GET`. */
  readonly body?: Buffer<ArrayBuffer>
  /** What is sent, in the order of the page. */
  readonly entries: readonly FormEntry[]
}

/** Options of `submitForm`. */
export interface SubmitOptions {
  /** Path and query of the page, for forms whose address is relative to it. */
  readonly page?: string
}

/** A URL whose origin no page has, to find out which addresses are relative. */
const NOWHERE = 'http://page.invalid'

/**
 * Makes the request that a browser without scripts makes when a visitor fills a form in and sends it: hidden fields,
 * default values, disabled fields and the button's own name included, as the HTML standard says. Faults that a browser
 * would complain about, such as an empty `required` field, are sent: the server must refuse them.
 * @param html of the page.
 * @param selector of the form, or of one of its submit buttons; a form is sent by its first button, as by the Enter key.
 * @param values by the names of the fields; others keep their value.
 * @throws {FormError} if the selector does not match one form, and for values that the form cannot have.
 * @throws {HtmlSizeError} for HTML that is too large or too deep to be a page.
 */
export async function submitForm(
  html: string,
  selector: string,
  values: FieldValues = {},
  options: SubmitOptions = {},
): Promise<FormRequest> {
  const tree = await parseHtml(html)
  const { form, button } = chosen(tree, selector)
  const fields = formFields(form)
  const title = titleOf(form)
  fillForm(title, fields, values)
  const submitter = button ?? fields.find(({ node }) => isSubmitButton(node))?.node
  const sender = fields.find(({ node }) => node === submitter)
  if (sender?.isDisabled === true) throw new FormError(`The button of ${title} is disabled: nobody can send it.`)
  const entries = entriesOf(fields, submitter)
  const setting = (name: string): string | undefined =>
    (submitter && attributeOf(submitter, `form${name}`)) ?? attributeOf(form, name)
  const url = addressOf(tree, setting('action') ?? '', { title, page: options.page })
  const method = setting('method')?.toLowerCase()
  if (method === 'dialog') throw new FormError(`${title} closes a dialog: it sends nothing.`)
  if (method === 'post') {
    return { method: 'POST', url: shown(url), entries, ...(await encoded(entries, setting('enctype')?.toLowerCase())) }
  }
  url.search = queryOf(entries)
  return { method: 'GET', url: shown(url), headers: {}, entries }
}

function chosen(tree: HtmlTree, selector: string): { readonly form: HtmlNode; readonly button?: HtmlNode } {
  const found = tree.select(selector)
  const [node] = found
  if (node === undefined) {
    const forms = tree.select('form').map(titleOf)
    throw new FormError(
      `Nothing matches ${selector}. The page has ${forms.length === 0 ? 'no forms' : `these: ${some(forms)}`}.`,
    )
  }
  if (found.length > 1) {
    throw new FormError(`${selector} matches ${found.length} elements: ${some(found.map(titleOf))}. Name one.`)
  }
  if (node.tagName === 'form') return { form: node }
  const form = formOf(node)
  if (form === undefined || !isSubmitButton(node)) {
    throw new FormError(`${selector} matches ${titleOf(node)}, which is neither a form nor a button that sends one.`)
  }
  return { form, button: node }
}

const MOST_SHOWN = 10

function some(titles: readonly string[]): string {
  return titles.slice(0, MOST_SHOWN).join(', ') + (titles.length > MOST_SHOWN ? ', …' : '')
}

/** A tag with what tells it from others: `<form id="sign">`. */
function titleOf(node: HtmlNode): string {
  const shownNames = ['id', 'name', 'value', 'action', 'class']
  const [told] = shownNames.flatMap((name) => {
    const value = attributeOf(node, name)
    return value === undefined || value === '' ? [] : [` ${name}=${JSON.stringify(value.slice(0, 80))}`]
  })
  return `<${node.tagName}${told ?? ''}>`
}

/** "Constructing the entry list" of the HTML standard. */
function entriesOf(fields: readonly FormField[], submitter: HtmlNode | undefined): readonly FormEntry[] {
  return fields.flatMap((field): readonly FormEntry[] => {
    const { node, kind, name, values } = field
    if (field.isDisabled || (kind === 'button' && node !== submitter)) return []
    if ((kind === 'checkbox' || kind === 'radio') && !field.checked) return []
    if (kind === 'button' && typeOf(node) === 'image') {
      const prefix = name === '' ? '' : `${name}.`
      return [
        [`${prefix}x`, '0'],
        [`${prefix}y`, '0'],
      ]
    }
    if (name === '') return []
    if (kind === 'file' && values.length === 0) return [[name, new File([], '')]]
    if (kind === 'hidden' && name.toLowerCase() === '_charset_') return [[name, 'UTF-8']]
    const direction = kind === 'text' ? attributeOf(node, 'dirname') : undefined
    const sent = values.map((value) => [name, typeof value === 'string' ? newlines(value) : value] as const)
    return direction ? [...sent, [direction, directionOf(node)]] : sent
  })
}

function directionOf(node: HtmlNode): string {
  for (let known: HtmlNode | undefined = node; known !== undefined; known = parentOf(known)) {
    const direction = attributeOf(known, 'dir')?.toLowerCase()
    if (direction !== undefined) return direction === 'rtl' ? 'rtl' : 'ltr'
  }
  return 'ltr'
}

/** Browsers send each line break as CRLF. */
function newlines(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n')
}

interface AddressFacts {
  readonly title: string
  readonly page: string | undefined
}

function addressOf(tree: HtmlTree, action: string, { title, page }: AddressFacts): URL {
  const written = action.trim()
  if (page === undefined && !/^(?:\/|[a-z][a-z\d+.-]*:)/i.test(written)) {
    throw new FormError(
      `${title} leads to an address that is relative to its page (${JSON.stringify(written)}): name the page, ` +
        "as in submitForm(html, selector, values, { page: '/sign-in' }).",
    )
  }
  const here = new URL(page ?? '/', NOWHERE)
  const base = tree.select('base[href]')[0]
  const around = base === undefined ? here : new URL(attributeOf(base, 'href') ?? '', here)
  const url = written === '' ? here : new URL(written, around)
  if (!/^https?:$/.test(url.protocol)) throw new FormError(`${title} leads to ${url.protocol}, which is not a page.`)
  url.hash = ''
  return url
}

function shown(url: URL): string {
  return url.origin === NOWHERE ? url.pathname + url.search : url.href
}

function queryOf(entries: readonly FormEntry[]): string {
  return new URLSearchParams(entries.map(([name, value]) => [newlines(name), textOfEntry(value)])).toString()
}

function textOfEntry(value: string | File): string {
  return typeof value === 'string' ? value : value.name
}

async function encoded(entries: readonly FormEntry[], enctype: string | undefined) {
  if (enctype === 'multipart/form-data') {
    const data = new FormData()
    for (const [name, value] of entries) data.append(name, value)
    const written = new Response(data)
    return {
      headers: { 'Content-Type': written.headers.get('content-type') ?? enctype },
      body: Buffer.from(await written.arrayBuffer()),
    }
  }
  if (enctype === 'text/plain') {
    const lines = entries.map(([name, value]) => `${name}=${textOfEntry(value)}\r\n`)
    return { headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(lines.join('')) }
  }
  return { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: Buffer.from(queryOf(entries)) }
}
