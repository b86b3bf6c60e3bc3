/**
 * React puts what fills a hole at the end of the body, hidden, and moves it to its place by script: `S:0` fills `B:0`, with
 * the document's prefix in front of both. Where no script runs it is shown where it is, and the hole says so. Rows of a
 * table come in a table of their own.
 */
const RULES =
  'body>:is([hidden],svg,math)[id*="S:"]{display:block!important}' +
  'body>:is([hidden][id*="S:"],noscript){box-sizing:border-box;max-width:80rem;margin:auto;padding:1rem}' +
  'body>noscript{display:block}' +
  'body>[hidden]:has(>[id*="S:"],>tbody>[id*="S:"]){display:table!important}' +
  'template[id*="B:"]{display:block;font-style:italic}' +
  'template[id*="B:"]::before{content:"This part follows at the end of the page."}' +
  // A placeholder that says that something is loading would say so for ever.
  'template[id*="B:"]+[aria-busy=true]{display:none!important}'

/**
 * What the head of a streamed document holds for browsers without scripts. Not a media query: half of the browsers that we
 * build for do not know `scripting`.
 * @param nonce for policies that ask for one with styles; ours does not.
 */
export function holeStyles(nonce: string): string {
  return `<noscript><style nonce="${nonce}">${RULES}</style></noscript>`
}
