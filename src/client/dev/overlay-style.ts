/**
 * Styles of the overlay and the badge: a constructed stylesheet, which no content security policy blocks. The badge is
 * beside the first place of the panel's button, which has 12 + 36 px.
 */
export const OVERLAY_STYLE = `
:host {
  all: initial; color-scheme: light dark;
  --ground: #f3f5f7; --card: #fff; --well: #eef1f4; --text: #17212b; --quiet: #4c5b68; --line: #8695a1;
  --title: #a3211a; --accent: #c62f25; --mark: #ffdcd8; --link: #0b5cad; --added: #1a6b34; --removed: #a3211a;
  --notice: #7a5200;
}
@media (prefers-color-scheme: dark) {
  :host {
    --ground: #0c1218; --card: #18212b; --well: #0d141b; --text: #e8eef2; --quiet: #a3b0bb; --line: #5d6d7b;
    --title: #ffb1aa; --accent: #ff6b5e; --mark: #5e2b2b; --link: #8ccbff; --added: #8fdca5; --removed: #ffb1aa;
    --notice: #ffcf85;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
dialog {
  position: fixed; inset: 0; width: 100%; height: 100%; max-width: none; max-height: none; margin: 0;
  padding: 1.5rem 1rem; border: 0; overflow: auto; z-index: 2147483647; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; text-align: start; overscroll-behavior: contain;
}
dialog:focus { outline: none; }
header, article, output { max-width: 60rem; margin: 0 auto; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin-bottom: 0.75rem; }
header > span { flex: 1 1 auto; }
article { margin-bottom: 1rem; padding: 1.25rem 1.5rem; border-radius: 8px; border-top: 4px solid var(--accent);
  background: var(--card); box-shadow: 0 4px 24px rgb(0 0 0 / 0.2); }
article.warning { border-top-color: var(--notice); }
h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--title); }
.warning h1 { color: var(--notice); }
h2 { margin: 1rem 0 0.25rem; font-size: 0.875rem; font-weight: 600; color: var(--quiet); }
p { margin: 0.25rem 0 1rem; white-space: pre-wrap; overflow-wrap: anywhere; font: 15px/1.5 ui-monospace, monospace; }
.warning p { font-family: inherit; }
pre { margin: 0 0 1rem; padding: 0.75rem 1rem; overflow: auto; border-radius: 6px; background: var(--well);
  font: 13px/1.6 ui-monospace, monospace; tab-size: 2; }
pre > * { display: block; width: max-content; min-width: 100%; font-weight: inherit; }
pre b { background: var(--mark); }
ins, del { text-decoration: none; }
ins { color: var(--added); }
del { color: var(--removed); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 1rem; margin: 0 0 1rem; font-size: 13px; }
dt, output, header > span, small { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
ol { margin: 0; padding: 0; list-style: none; font: 13px/1.7 ui-monospace, monospace; }
li { overflow-wrap: anywhere; }
details ol { padding-inline-start: 1rem; color: var(--quiet); }
summary { width: max-content; max-width: 100%; cursor: pointer; color: var(--quiet); font-family: system-ui, sans-serif; }
output { display: block; font-size: 13px; }
button { min-height: 1.875rem; padding: 0.25rem 0.75rem; border: 1px solid var(--line); border-radius: 6px;
  background: none; color: inherit; font: inherit; cursor: pointer; }
button.place { min-height: 1.5rem; padding: 0; border: 0; color: var(--link); text-align: start; text-decoration: underline;
  overflow-wrap: anywhere; }
button:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
button.badge { position: fixed; inset: auto auto 14px 56px; z-index: 2147483645; border-color: var(--notice);
  background: var(--card); color: var(--notice); font: 13px/1.4 system-ui, sans-serif; }
@media (max-width: 40rem) {
  dialog { padding: 0.75rem 0.5rem; }
  article { padding: 1rem; }
  header > span { flex-basis: 100%; }
}
@media print { button.badge { display: none; } }
`
