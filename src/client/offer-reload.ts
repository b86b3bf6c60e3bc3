/**
 * Says in a bar at the bottom of the window that a part of the page has not loaded, and offers to load it again. It asks for
 * no other file, and looks the same with the application's stylesheets and without.
 */
export function offerReload({ document, location }: Window): void {
  const bar = document.createElement('div')
  const button = document.createElement('button')
  bar.role = 'alert'
  // Through the object model: a policy may forbid `style` attributes.
  bar.style.cssText = 'position:fixed;inset:auto 0 0;z-index:99;padding:1em;background:#712;color:#fff'
  button.style.cssText = 'all:revert;font:inherit;padding:0 1em'
  button.textContent = 'Reload'
  button.addEventListener('click', () => location.reload())
  bar.append('A part of this page did not load. ', button)
  document.body.append(bar)
}
