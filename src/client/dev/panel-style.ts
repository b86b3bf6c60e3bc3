/** The frame of the panel; the tables in it have `INSPECTOR_STYLE`. Colors follow the system's color scheme. */
export const PANEL_STYLE = `
:host { all: initial; color-scheme: light dark; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
aside {
  --ink: light-dark(#14202b, #e8eef2); --soft: light-dark(#4f5c68, #a3b2be); --paper: light-dark(#fbfcfd, #0f161d);
  --rule: light-dark(#c3ccd4, #3a4a57); --blue: light-dark(#0a5c99, #7cc7ff);
  position: fixed; z-index: 2147483646; display: flex; flex-direction: column; background: var(--paper); color: var(--ink);
  font: 13px/1.5 system-ui, sans-serif; text-align: start; box-shadow: 0 0 24px rgb(0 0 0 / 0.25); outline: none;
}
aside[data-dock=bottom] { inset: auto 0 0 0; height: min(var(--height), 85dvh); border-top: 2px solid var(--blue); }
aside[data-dock=top] { inset: 0 0 auto 0; height: min(var(--height), 85dvh); border-bottom: 2px solid var(--blue); }
aside[data-dock=right] { inset: 0 0 0 auto; width: min(var(--width), 85vw); border-left: 2px solid var(--blue); }
aside[data-dock=left] { inset: 0 auto 0 0; width: min(var(--width), 85vw); border-right: 2px solid var(--blue); }
@media (max-width: 640px) {
  aside[data-dock=right] { inset: auto 0 0 0; width: auto; height: min(var(--height), 85dvh); border-width: 2px 0 0; border-top-style: solid; border-color: var(--blue); }
  aside[data-dock=left] { inset: 0 0 auto 0; width: auto; height: min(var(--height), 85dvh); border-width: 0 0 2px; border-bottom-style: solid; border-color: var(--blue); }
}
header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; padding: 6px 12px 0;
  border-bottom: 1px solid var(--rule); }
[role=tablist] { display: flex; min-width: 0; overflow-x: auto; scrollbar-width: thin; flex: 1 1 288px; }
[role=tab] { flex: none; padding: 6px 12px; border: 0; border-bottom: 3px solid transparent; background: none;
  color: var(--soft); font: inherit; cursor: pointer; }
[role=tab]:hover { color: var(--ink); }
[role=tab][aria-selected=true] { border-bottom-color: var(--blue); color: var(--ink); font-weight: 600; }
[role=tab] small { margin-inline-start: 6px; padding: 0 6px; border-radius: 16px; background: light-dark(#e9eef2, #1c2833);
  color: var(--soft); font-size: 11px; font-weight: 400; font-variant-numeric: tabular-nums; }
.tools { display: flex; flex-wrap: wrap; gap: 4px 6px; font-size: 12px; align-items: center; padding-block: 0 6px; }
label { display: flex; gap: 4px; align-items: center; color: var(--soft); }
select { max-width: 104px; }
select, .tools button { padding: 2px 6px; border: 1px solid var(--soft); border-radius: 4px; background: var(--paper);
  color: var(--ink); font: inherit; cursor: pointer; }
[role=tabpanel] { flex: 1; min-height: 0; overflow: auto; padding: 12px; overscroll-behavior: contain; }
[role=tabpanel] > p { margin: 16px 0 0; color: var(--soft); }
[role=separator] { position: absolute; touch-action: none; }
:is([data-dock=bottom], [data-dock=top]) > [role=separator] { inset-inline: 0; height: 8px; cursor: ns-resize; }
:is([data-dock=right], [data-dock=left]) > [role=separator] { inset-block: 0; width: 8px; cursor: ew-resize; }
[data-dock=bottom] > [role=separator] { top: -5px; }
[data-dock=top] > [role=separator] { bottom: -5px; }
[data-dock=right] > [role=separator] { left: -5px; }
[data-dock=left] > [role=separator] { right: -5px; }
@media (max-width: 640px) { :is([data-dock=right], [data-dock=left]) > [role=separator] { display: none; } }
:is(button, select, [role=tabpanel], [role=separator]):focus-visible { outline: 2px solid var(--blue); outline-offset: -2px; }
[role=tabpanel] .millrace-inspector { font-size: 13px; }
@media print { aside { display: none; } }
`
