import { withBasePath } from 'millrace'
import { createSlugs } from 'millrace/internal/handbook'
import { Marked, type Tokens } from 'marked'
import { escapeMarkup } from '../site/escape-markup.server.ts'
import { createCodeBlocks } from './code-block.server.ts'
import { ID_PREFIX, type Heading } from './heading.ts'

/** What becomes of a Markdown text. */
export interface RenderedMarkdown {
  readonly html: string
  readonly headings: readonly Heading[]
}

/**
 * Renders Markdown to HTML. Raw HTML comes out as text, and links lead to http(s), mail or this site only.
 * Headings get ids and a link to themselves; code is highlighted where its language is one we know.
 * @param links where exports are described, by name: types in signatures lead there.
 */
export function renderMarkdown(source: string, links: ReadonlyMap<string, string> = new Map()): RenderedMarkdown {
  const headings: Heading[] = []
  const slug = createSlugs()
  const codeBlock = createCodeBlocks(links)
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => escapeMarkup(text),
      code: ({ text, lang }) => codeBlock(text, lang),
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens)
        const text = plainText(this.parser.parseInline(tokens, this.parser.textRenderer))
        const id = ID_PREFIX + slug(text)
        headings.push({ id, text, depth })
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`
      },
      link({ href, title, tokens }) {
        const inner = this.parser.parseInline(tokens)
        if (!isSafeHref(href)) return inner
        return `<a href="${escapeMarkup(withBasePath(withPrefix(href)))}"${title === null || title === undefined ? '' : ` title="${escapeMarkup(title)}"`}>${inner}</a>`
      },
      image: ({ text }) => escapeMarkup(text),
      table(token) {
        const names = token.header.map(({ tokens }) =>
          plainText(this.parser.parseInline(tokens, this.parser.textRenderer)),
        )
        return tableBlock(token, names, (cell) => withBreaks(this.parser.parseInline(cell.tokens)))
      },
    },
  })
  const html = marked.parse(source, { async: false })
  return { html, headings }
}

const LEAST_STACKED = 3 // columns; two fit on a small screen

/** @param names of the columns: where the cells of a row are below each other, a stylesheet writes them in front. */
function tableBlock(token: Tokens.Table, names: readonly string[], inline: (cell: Tokens.TableCell) => string): string {
  const labels = names.slice(1).map((name, index) => `--c${index + 2}:${styleString(name)}`)
  const style = names.length < LEAST_STACKED ? '' : ` style="${labels.join(';')}"`
  const head = token.header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('')
  const rows = token.rows.map((row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`).join('\n')
  return `<div class="table-scroll"><table${style}>
<thead><tr>${head}</tr></thead>
<tbody>${rows}</tbody>
</table></div>\n`
}

/** Lets long code, such as a path, break behind its separators: else its column would be as wide as all of it. */
function withBreaks(html: string): string {
  return html.replaceAll(/(?<=<code>)[^<]{16,}(?=<\/code>)/g, (code) => code.replaceAll(/[/._](?=\w)/g, '$&<wbr>'))
}

/** A string of CSS that needs no escapes in an attribute. */
function styleString(text: string): string {
  return `'${text.replaceAll(/['"\\<>&\n]/g, (character) => `\\${character.charCodeAt(0).toString(16)} `)}'`
}

/** Chapters name each other's sections without the prefix, as headings do. */
function withPrefix(href: string): string {
  return /^(?:\/docs\b|[\w-]*#)/.test(href) ? href.replace(/#(?=.)/, `#${ID_PREFIX}`) : href
}

function isSafeHref(href: string): boolean {
  return /^(?:https?:\/\/|mailto:|\/(?![/\\])|#|\?|[\w-]+(?:[#?]|$))/i.test(href)
}

/** Undoes the escapes of marked's text renderer: headings travel as text, and React escapes them again. */
function plainText(escaped: string): string {
  return escaped
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
