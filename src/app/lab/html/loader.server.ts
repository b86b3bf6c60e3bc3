import { z } from 'zod'
import { html, withBasePath, type HtmlValue } from 'millrace'
import type { LoaderArgs } from 'millrace/server'
import { escapeMarkup } from '../../site/escape-markup.server.ts'
import { neighboursOf } from '../cache/neighbours.ts'

const MOST_CHARACTERS = 100

/** `word`: what the form in the HTML has asked for. */
export const search = z.object({ word: z.string().max(MOST_CHARACTERS).default('').catch('') })

type Search = z.output<typeof search>

/** HTML that the server has written, and when, in ms since the epoch. */
export function loader({ params: { key }, search: { word } }: LoaderArgs<'/lab/html/[key]', Search>) {
  return { body: bodyOf(key, word), word, renderedAt: Date.now() }
}

function bodyOf(key: string, word: string): HtmlValue {
  const path = (of: string): string => escapeMarkup(withBasePath(`/lab/html/${encodeURIComponent(of)}`))
  const links = neighboursOf(key).map((of) => `<li><a href="${path(of)}">Mill ${of}</a></li>`)
  return html(`<h2 id="about">About mill ${escapeMarkup(key)}</h2>
<p>This paragraph of mill “${escapeMarkup(key)}” is markup that the server has written &amp; vouches for.<br/>
It has a <a href="#more">link within the page</a>.</p>
<ul>${links.join('')}</ul>
<details id="more"><summary>More</summary><p>What is opened stays open while the data is loaded again.</p></details>
<form action="${path(key)}"><label>Word <input name="word" value="${escapeMarkup(word)}" maxlength="${MOST_CHARACTERS}"/></label>
<button>Look up</button></form>`)
}
