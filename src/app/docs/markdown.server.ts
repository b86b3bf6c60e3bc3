import { withBasePath } from 'millrace'
import { createSlugs } from 'millrace/internal/handbook'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import http from 'highlight.js/lib/languages/http'
import json from 'highlight.js/lib/languages/json'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import { Marked, type Tokens } from 'marked'
import { escapeMarkup } from '../site/escape-markup.server.ts'
import { ID_PREFIX, type Heading } from './heading.ts'

/** What becomes of a Markdown text. */
export interface RenderedMarkdown {
  readonly html: string
  readonly headings: readonly Heading[]
}

const highlighter = hljs.newInstance()
// `typescript` brings the aliases ts and tsx, and `xml` html. JSX is handed over to `xml`.
for (const [name, language] of Object.entries({ bash, css, http, json, typescript, xml })) {
  highlighter.registerLanguage(name, language)
}
highlighter.registerAliases(['js', 'jsx'], { languageName: 'typescript' }) // samples of other frameworks

/**
 * Renders Markdown to HTML. Raw HTML comes out as text, and links lead to http(s), mail or this site only.
 * Headings get ids and a link to themselves; code is highlighted where its language is one we know.
 */
export function renderMarkdown(source: string): RenderedMarkdown {
  const headings: Heading[] = []
  const slug = createSlugs()
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
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      link({ href, title, tokens }) {
        const inner = this.parser.parseInline(tokens)
        if (!isSafeHref(href)) return inner
        return `<a href="${escapeMarkup(withBasePath(withPrefix(href)))}"${title === null || title === undefined ? '' : ` title="${escapeMarkup(title)}"`}>${inner}</a>`
      },
      image: ({ text }) => escapeMarkup(text),
      table(token) {
        return tableBlock(token, (cell) => this.parser.parseInline(cell.tokens))
      },
    },
  })
  const html = marked.parse(source, { async: false })
  return { html, headings }
}

function codeBlock(text: string, lang: string | undefined): string {
  const language = lang !== undefined && highlighter.getLanguage(lang) !== undefined ? lang : undefined
  const body =
    language === undefined ? escapeMarkup(text) : highlighter.highlight(text, { language, ignoreIllegals: true }).value
  const label = lang === undefined || lang === '' ? 'code' : lang
  // Long lines scroll, and what scrolls must be reachable by keyboard.
  return `<pre tabindex="0" role="group" aria-label="${escapeMarkup(label)} example"><code class="hljs">${body}</code></pre>\n`
}

function tableBlock(token: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const head = token.header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('')
  const rows = token.rows.map((row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join('')}</tr>`).join('\n')
  return `<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>
<thead><tr>${head}</tr></thead>
<tbody>${rows}</tbody>
</table></div>\n`
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
