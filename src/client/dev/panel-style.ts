/** The panel's styles: a constructed stylesheet, which no content security policy blocks. */
export const PANEL_STYLE = `
:host { all: initial; }
[hidden] { display: none !important; }
aside {
  box-sizing: border-box; position: fixed; inset: auto 0 0 0; max-height: 45vh; overflow: auto; z-index: 2147483646;
  padding: 0.75rem 1rem 1rem; border-top: 3px solid #7cc7ff; background: rgb(12 18 24 / 0.95); color: #e8eef2;
  font: 13px/1.5 system-ui, sans-serif; text-align: start;
}
aside:focus-visible, button:focus-visible, section div:focus-visible { outline: 2px solid #7cc7ff; outline-offset: -2px; }
header { display: flex; gap: 1rem; align-items: baseline; justify-content: space-between; margin-bottom: 0.5rem; }
h2, strong { margin: 0; font-size: inherit; font-weight: 600; color: #7cc7ff; }
aside > div { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem 2rem; }
section { min-width: 0; }
p { margin: 0; color: #93a1ad; }
section > div { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.1rem 1rem 0.1rem 0; text-align: start; vertical-align: top; white-space: nowrap; }
th { color: #93a1ad; font-weight: 400; }
code { font: 12px/1.6 ui-monospace, monospace; }
td > div { display: flex; width: 8rem; height: 6px; margin-top: 0.4em; background: #24303b; }
i[data-phase=ready] { background: #7cc7ff; }
i[data-phase=commit] { background: #ffb454; }
button { padding: 0.1rem 0.6rem; border: 1px solid #4a5a68; border-radius: 6px; background: none; color: inherit;
  font: inherit; cursor: pointer; }
@media print { aside { display: none; } }
`
