/**
 * Styles of `InspectorView`, for a constructed stylesheet, which no content security policy blocks. Colors follow the
 * color scheme of their place, and have a contrast of 4.5 to the backgrounds of both schemes. A table fades at the edge
 * behind which it has more columns, where the browser knows animations by scrolling.
 */
export const INSPECTOR_STYLE = `
.millrace-inspector {
  --ink-soft: light-dark(#4f5c68, #a3b2be); --line: light-dark(#d3dae0, #2f3d49); --sunk: light-dark(#e9eef2, #1c2833);
  --accent: light-dark(#0a5c99, #7cc7ff); --second: light-dark(#b25e00, #ffb454);
  --good: light-dark(#14663a, #7ddc9a); --warn: light-dark(#874800, #ffb454); --bad: light-dark(#b01c14, #ff9b93);
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 2em; font-size: 0.8125em; line-height: 1.5;
}
.millrace-inspector section { min-width: 0; }
.millrace-inspector h2 { margin: 0 0 0.31em; font-size: 1.15em; line-height: 1.4; font-weight: 600; }
.millrace-inspector p { margin: 0 0 0.62em; max-width: 75ch; color: var(--ink-soft); font-size: inherit; overflow-wrap: anywhere; }
.millrace-inspector .scroll { overflow-x: auto; animation: millrace-more linear; animation-timeline: scroll(self inline); }
@keyframes millrace-more { 0%, 95% { mask-image: linear-gradient(to right, #000 calc(100% - 3em), transparent); } 100% { mask-image: none; } }
.millrace-inspector .scroll:focus-visible, .millrace-inspector button:focus-visible {
  outline: 2px solid var(--accent); outline-offset: -2px; }
.millrace-inspector table { width: auto; min-width: min(100%, 44.31em); border-collapse: collapse; font-size: inherit; font-variant-numeric: tabular-nums; }
.millrace-inspector :is(th, td) { padding: 0.31em 1.85em 0.31em 0; border: 0; border-bottom: 1px solid var(--line);
  text-align: start; vertical-align: baseline; white-space: nowrap; background: none; }
.millrace-inspector th { color: var(--ink-soft); font-weight: 400; }
.millrace-inspector tbody tr:hover { background: var(--sunk); }
.millrace-inspector code { padding: 0; background: none; color: inherit; font: 0.92em/1.6 ui-monospace, monospace; }
.millrace-inspector td > code { display: inline-block; max-width: 41.85em; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.millrace-inspector [data-tone=good] { color: var(--good); }
.millrace-inspector [data-tone=busy] { color: var(--accent); }
.millrace-inspector [data-tone=warn] { color: var(--warn); }
.millrace-inspector [data-tone=bad] { color: var(--bad); }
.millrace-inspector [data-tone]::before { content: ''; display: inline-block; width: 0.5em; height: 0.5em;
  margin-inline-end: 0.5em; border-radius: 50%; background: currentColor; vertical-align: 0.1em; }
.millrace-inspector .bars { display: flex; width: 12.31em; height: 0.62em; margin-block: 0.46em; background: var(--sunk); }
.millrace-inspector .bars.wide { width: 17.23em; }
.millrace-inspector i { flex: none; min-width: 0; }
.millrace-inspector i:is([data-phase=ready], [data-phase=receiving]) { background: var(--accent); }
.millrace-inspector i[data-phase=waiting] { min-width: 2px; background: color-mix(in srgb, var(--accent) 45%, transparent); }
.millrace-inspector i[data-phase=commit] { background: var(--second); }
.millrace-inspector .commands { padding-block: 0.15em; }
.millrace-inspector button { margin-inline-end: 0.31em; padding: 0.08em 0.62em; border: 1px solid var(--ink-soft);
  border-radius: 0.31em; background: none; color: inherit; font: inherit; line-height: 1.4; cursor: pointer; }
.millrace-inspector button:hover { border-color: var(--accent); color: var(--accent); }
@media (max-width: 40rem), (pointer: coarse) { .millrace-inspector button { min-width: 44px; min-height: 44px; } }
@media (forced-colors: active) { .millrace-inspector i { background: CanvasText !important; forced-color-adjust: none; } }
`
