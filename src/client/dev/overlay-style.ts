/** The overlay's styles: a constructed stylesheet, which no content security policy blocks. */
export const OVERLAY_STYLE = `
:host { all: initial; }
dialog {
  box-sizing: border-box; position: fixed; inset: 0; width: 100%; height: 100%; max-width: none; max-height: none;
  margin: 0; padding: 2rem 1rem; border: 0; overflow: auto; z-index: 2147483647;
  background: rgb(12 18 24 / 0.93); color: #e8eef2; font: 15px/1.5 system-ui, sans-serif; text-align: start;
}
article {
  max-width: 60rem; margin: 0 auto 1.5rem; padding: 1.25rem 1.5rem; border-radius: 8px;
  border-top: 4px solid #ff6b5e; background: #18212b; box-shadow: 0 8px 40px rgb(0 0 0 / 0.5);
}
header { display: flex; justify-content: space-between; max-width: 60rem; margin: 0 auto 0.75rem; }
h1 { margin: 0; font-size: 1rem; font-weight: 600; color: #ffb1aa; }
p { margin: 0.25rem 0 1rem; white-space: pre-wrap; overflow-wrap: anywhere; font: 15px/1.5 ui-monospace, monospace; }
pre { margin: 0 0 1rem; padding: 0.75rem 1rem; overflow: auto; border-radius: 6px; background: #0d141b;
  font: 13px/1.6 ui-monospace, monospace; }
pre b { color: #fff; background: rgb(255 107 94 / 0.3); font-weight: inherit; }
ol { margin: 0; padding: 0; list-style: none; font: 13px/1.7 ui-monospace, monospace; }
li { color: #e8eef2; overflow-wrap: anywhere; }
li.foreign { color: #93a1ad; }
button { padding: 0.25rem 0.75rem; border: 1px solid #4a5a68; border-radius: 6px; background: none; color: inherit;
  font: inherit; cursor: pointer; }
button:focus-visible { outline: 2px solid #7cc7ff; outline-offset: 2px; }
`
