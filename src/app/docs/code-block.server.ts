import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import http from 'highlight.js/lib/languages/http'
import json from 'highlight.js/lib/languages/json'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import { withBasePath } from 'millrace'
import { escapeMarkup } from '../site/escape-markup.server.ts'
import { markedLines, withMarks } from './marked-lines.server.ts'

const highlighter = hljs.newInstance()
// `typescript` brings the aliases ts and tsx, and `xml` html. JSX is passed on to `xml`.
for (const [name, language] of Object.entries({ bash, css, http, json, typescript, xml })) {
  highlighter.registerLanguage(name, language)
}
highlighter.registerAliases(['js', 'jsx'], { languageName: 'typescript' }) // samples of other frameworks

/** The file that a sample is, in the comment of its first line. */
const FILE_NAME = /^(?:\/\/|#|\/\*) ((?:[\w.()[\]-]+\/)*[\w.[\]-]+\.\w+)(?: \*\/)?\n/

/**
 * Makes the HTML of one page's code blocks: highlighted where the language is one we know, with the name of the file above a
 * sample that begins with it, and as tabs for three package managers where the fence says `bash npm`. A fence that ends in
 * `{2,4-6}` marks these lines, counted without that with the name of the file.
 * @param links where exports are described, by name: types in blocks of `ts signature` lead there.
 */
export function createCodeBlocks(
  links: ReadonlyMap<string, string>,
): (text: string, info: string | undefined) => string {
  let tabs = 0
  return (text, info = '') => {
    const [lang = '', kind] = info.split(' ')
    if (kind === 'npm') {
      tabs += 1
      return packageManagerTabs(text, `package-manager-${tabs}`)
    }
    const [line = '', file] = FILE_NAME.exec(text) ?? []
    const block = preBlock(text.slice(line.length), lang, {
      ...(kind === 'signature' ? { links } : {}),
      marked: markedLines(info),
    })
    if (file === undefined) return `<div class="code">${block}</div>\n`
    return `<figure class="code"><figcaption>${escapeMarkup(file).replaceAll('/', '/<wbr>')}</figcaption>${block}</figure>\n`
  }
}

interface PreOptions {
  readonly links?: ReadonlyMap<string, string>
  readonly marked?: ReadonlySet<number>
}

/**
 * Code as HTML, highlighted where the language is one we know.
 * @param links where exports are described, by name; without it, no name is a link.
 * @param marked numbers of lines, from 1.
 */
export function preBlock(text: string, lang: string, { links, marked }: PreOptions = {}): string {
  const isKnown = lang !== '' && highlighter.getLanguage(lang) !== undefined
  const body = isKnown
    ? highlighter.highlight(text, { language: lang, ignoreIllegals: true }).value
    : escapeMarkup(text)
  // `Prose` makes what scrolls reachable by keyboard: only a browser knows what does.
  const lines = marked === undefined ? body : withMarks(body, marked)
  return `<pre><code>${links === undefined ? lines : withLinks(lines, links)}</code></pre>`
}

/** Makes links of the names of exports in a signature, all but its own. */
function withLinks(html: string, links: ReadonlyMap<string, string>): string {
  const [, own] = /(?:function|interface|type|class|const)<\/span> (?:<[^>]+>)?(\w+)/.exec(html) ?? []
  return html.replaceAll(/<[^>]+>|&[^;]+;|[A-Za-z_]\w*/g, (part) => {
    const to = part === own ? undefined : links.get(part)
    return to === undefined || !/^[A-Z]/.test(part) ? part : `<a href="${escapeMarkup(withBasePath(to))}">${part}</a>`
  })
}

/** How a line of npm reads for other package managers. */
const PACKAGE_MANAGERS: Readonly<Record<string, readonly (readonly [npm: RegExp, own: string])[]>> = {
  npm: [],
  pnpm: [
    [/^npm install (?=\S)/, 'pnpm add '],
    [/^npm (install|ci)$/, 'pnpm install'],
    [/^npm run /, 'pnpm '],
    [/^npx /, 'pnpm exec '],
    [/^npm /, 'pnpm '],
  ],
  Yarn: [
    [/^npm install --save-dev /, 'yarn add --dev '],
    [/^npm install (?=\S)/, 'yarn add '],
    [/^npm (install|ci)$/, 'yarn install'],
    [/^npm run /, 'yarn '],
    [/^npx /, 'yarn '],
    [/^npm /, 'yarn '],
  ],
}

/** Radio buttons, which work without scripts. */
function packageManagerTabs(text: string, name: string): string {
  const tabs = Object.entries(PACKAGE_MANAGERS).map(([manager, words], index) => {
    const lines = text.split('\n').map((line) => {
      const [npm, own] = words.find(([pattern]) => pattern.test(line)) ?? []
      return npm === undefined || own === undefined ? line : line.replace(npm, own)
    })
    const checked = index === 0 ? ' checked' : ''
    return `<label><input type="radio" name="${name}"${checked}>${manager}</label><div class="code">${preBlock(lines.join('\n'), 'bash')}</div>`
  })
  return `<div class="tabs" role="group" aria-label="Package manager">${tabs.join('')}</div>\n`
}
