/** Rules of the kinds by which stylesheets hide what has the attribute `hidden`, and what is busy. */
export const RESETS: readonly (readonly [name: string, css: string])[] = [
  [
    'important, in a layer',
    '@layer theme, base; @layer base { [hidden]:where(:not([hidden=until-found])) { display: none !important } }',
  ],
  ['important, in nested layers', '@layer a { @layer b { body [hidden] { display: none !important } } }'],
  ['important', '[hidden] { display: none !important }'],
  [
    'important, of any specificity',
    ':root:root:root:root body > [hidden][id][id]:not(#x#y#z) { display: none !important }',
  ],
  ['important, without specificity', ':where([hidden]) { display: none !important }'],
  ['plain', '[hidden], template { display: none }'],
  ['in a layer', '@layer base { [hidden], template, noscript { display: none } }'],
  ['by visibility', '[hidden] { visibility: hidden !important }'],
  ['by content', '@layer base { [hidden] { content-visibility: hidden !important } }'],
  ['by taking all of a box', '@layer { *, ::before, ::after { all: unset } [hidden] { display: none !important } }'],
  [
    'what is busy',
    '@layer base { [aria-busy] { display: block !important } } [aria-busy=true] { display: flex !important }',
  ],
]

/** A document with one more stylesheet, behind its own. */
export function withStyles(html: string, css: string): string {
  return html.replace('</head>', `<style>${css}</style></head>`)
}
