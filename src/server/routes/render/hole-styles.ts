/**
 * React puts streamed content at the end of the body, hidden, and moves it to its place by script: `S:0` replaces
 * `B:0`, both after the document's prefix. Without scripts, the content is shown at the end, and the placeholder says
 * so. Rows of a table get a table of their own.
 */
const RULES =
  'body>:is([hidden],svg,math)[id*="S:"]{display:block!important}' +
  'body>:is([hidden][id*="S:"],noscript){box-sizing:border-box;max-width:80rem;margin:auto;padding:1rem}' +
  'body>noscript{display:block}' +
  'body>[hidden]:has(>[id*="S:"],>tbody>[id*="S:"]){display:table!important}' +
  'template[id*="B:"]{display:block;font-style:italic}' +
  'template[id*="B:"]::before{content:"This part follows at the end of the page."}' +
  // Without scripts, a loading placeholder would stay forever.
  'template[id*="B:"]+[aria-busy=true]{display:none!important}'

/**
 * Styles in the head of a streamed document for browsers without scripts. Not a media query: half of the browsers that
 * we support do not know `scripting`.
 * @param nonce for policies that require one for styles; ours does not.
 */
export function holeStyles(nonce: string): string {
  return `<noscript><style nonce="${nonce}">${RULES}</style></noscript>`
}
