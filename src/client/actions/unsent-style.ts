/**
 * The bar's styles: a constructed stylesheet, which no content security policy blocks. Each rule has the specificity of
 * one element, so that an application's rules for plain buttons do not apply, but those for `.millrace-unsent button`
 * do.
 */
export const UNSENT_STYLE = `
section:where(.millrace-unsent) {
  box-sizing: border-box; position: fixed; inset: auto 0 0 0; width: auto; max-width: none; max-height: 50vh; margin: 0;
  padding: 0.5rem max(1rem, env(safe-area-inset-right)) max(0.5rem, env(safe-area-inset-bottom))
    max(1rem, env(safe-area-inset-left));
  overflow: auto; z-index: 2147483000; border: 0; border-top: 3px solid #ffb454; background: #14191f; color: #f4f6f8;
  font: 1rem/1.5 system-ui, sans-serif; text-align: start;
}
html:has(> body > .millrace-unsent) { scroll-padding-bottom: 8rem; }
body:has(> .millrace-unsent) { padding-bottom: 8rem; }
:where(.millrace-unsent) div { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; padding: 0.25rem 0; }
:where(.millrace-unsent) p { flex: 1 1 16rem; margin: 0; color: inherit; font: inherit; }
:where(.millrace-unsent) button {
  min-height: 44px; margin: 0; padding: 0 1rem; border: 1px solid #8b98a5; border-radius: 6px; background: none;
  box-shadow: none; color: inherit; font: inherit; cursor: pointer;
}
:where(.millrace-unsent) button:first-of-type { border-color: #ffb454; background: #ffb454; color: #14191f; }
:where(.millrace-unsent) button:hover { text-decoration: underline; }
:where(.millrace-unsent) button:focus-visible { outline: 3px solid #fff; outline-offset: 2px; }
:where(.millrace-unsent) button[aria-disabled=true] { opacity: 0.6; cursor: default; }
@media (forced-colors: active) { section:where(.millrace-unsent) { border-top-color: CanvasText; } }
@media print { section:where(.millrace-unsent) { display: none; } }
`
