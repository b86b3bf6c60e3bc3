/** A form as it stands in HTML that React has written. */
export interface HtmlForm {
  /** Its URL, unescaped. */
  readonly action: string
  /** Hidden fields. */
  readonly hidden: readonly (readonly [name: string, value: string])[]
}

/** A form that is ready to be sent. */
interface FilledForm {
  readonly action: string
  /** Content type, with its boundary. */
  readonly type: string
  readonly body: string
}

const BOUNDARY = '----millrace-test-form'

/**
 * Finds a form by its `id`.
 * @throws {Error} where it is not, or has no URL.
 */
export function formIn(html: string, id: string): HtmlForm {
  const [, tag, content = ''] = new RegExp(`<form([^>]*\\sid="${id}"[^>]*)>(.*?)</form>`, 's').exec(html) ?? []
  const action = tag === undefined ? undefined : attribute(tag, 'action')
  if (action === undefined) throw new Error(`There is no form ${id} with a URL`)
  const hidden = [...content.matchAll(/<input([^>]*type="hidden"[^>]*)>/g)].map(
    ([, input = '']) => [attribute(input, 'name') ?? '', attribute(input, 'value') ?? ''] as const,
  )
  return { action, hidden }
}

/** Fills a form in as a browser would send it: hidden fields first, multipart. */
export function filledForm({ action, hidden }: HtmlForm, fields: Readonly<Record<string, string>>): FilledForm {
  const parts = [...hidden, ...Object.entries(fields)].map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    action,
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    body: `${parts.join('')}--${BOUNDARY}--\r\n`,
  }
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value?.replace(/&(amp|quot|lt|gt|#x27);/g, (_, entity: string) => ENTITIES[entity] ?? '')
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', '#x27': "'" }
