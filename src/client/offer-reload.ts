import type { SayTexts } from '../shared/texts.ts'

/**
 * Shows a bar at the bottom of the window: a part of the page has not loaded, with a link to reload. It needs no
 * further file, and looks the same with and without the application's stylesheets.
 *
 * @param texts the application's own; they may be loading.
 */
export async function offerReload(
  { document, location }: Window,
  texts: ReturnType<SayTexts> | undefined,
): Promise<void> {
  const { notLoaded = 'A part of this page did not load.', reload = 'Reload' } = (await texts) ?? {}
  const bar = document.createElement('div')
  const button = document.createElement('button')
  bar.role = 'alert'
  // Through the CSSOM: a policy may forbid `style` attributes.
  bar.style.cssText = 'position:fixed;inset:auto 0 0;z-index:99;padding:1em;background:#712;color:#fff'
  button.style.cssText = 'all:revert;font:inherit;padding:0 1em'
  button.textContent = reload
  button.addEventListener('click', () => location.reload())
  bar.append(notLoaded, ' ', button)
  document.body.append(bar)
}
