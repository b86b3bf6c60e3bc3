import type { PageTexts } from '../../../shared/texts.ts'

/**
 * React puts streamed content at the end of the body, hidden, and moves it to its place by script: `S:0` replaces
 * `B:0`, both after the document's prefix. Without scripts, the content is shown at the end, and the placeholder says
 * so. Rows of a table get a table of their own.
 *
 * Among important rules, those of the document's first layer win, whatever the specificity of others: a reset may hide
 * `[hidden]` by an important rule too, in a layer or outside of one.
 */
const HOLE_RULES =
  '@layer{' +
  'body>:is([hidden],svg,math)[id*="S:"]{display:block!important}' +
  'body>[hidden]:has(>[id*="S:"],>tbody>[id*="S:"]){display:table!important}' +
  'body>:is([hidden],svg,math):is([id*="S:"],:has(>[id*="S:"],>tbody>[id*="S:"]))' +
  '{visibility:visible!important;content-visibility:visible!important}' +
  // Without scripts, a loading placeholder would stay forever.
  'template[id*="B:"]+[aria-busy=true]{display:none!important}' +
  '}' +
  'body>:is([hidden][id*="S:"],noscript){box-sizing:border-box;max-width:80rem;margin:auto;padding:1rem}' +
  'body>noscript{display:block}' +
  'template[id*="B:"]{display:block;font-style:italic}'

/**
 * Styles in the head of a streamed document, before all others, for browsers without scripts. Not a media query: half of the browsers that
 * we support do not know `scripting`.
 * @param nonce for policies that require one for styles; ours does not. `''` for none.
 */
export function holeStyles(nonce: string, { partFollows }: PageTexts): string {
  const hint = `template[id*="B:"]::before{content:"${escapeStyle(partFollows)}"}`
  const attribute = nonce === '' ? '' : ` nonce="${nonce}"`
  return `<noscript><style${attribute}>${HOLE_RULES}${hint}</style></noscript>`
}

/** A text inside of quotes in a stylesheet in HTML. */
function escapeStyle(text: string): string {
  return text.replace(/["\\<>&\p{Cc}]/gu, (character) => `\\${character.codePointAt(0)?.toString(16)} `)
}
