/** The controls of a page whose user has left. */
export interface HeldControls {
  /**
   * From now on, components write in vain: they hold what was typed, and the browser would keep it for whoever comes next. It keeps the
   * input of a page that is left, in Firefox before the page hears that.
   */
  hold(): void
  release(): void
}

/** Nothing is held at first. */
export function createHeldControls(document: Document): HeldControls {
  /** Frameworks have properties of their own on a control, to watch it. */
  const held = new Map<Element, readonly [name: string, own: PropertyDescriptor | undefined]>()
  return {
    hold() {
      for (const control of document.querySelectorAll<HTMLInputElement>('input,textarea,option')) {
        if (held.has(control)) continue
        const name =
          control.tagName === 'OPTION' ? 'selected' : /^(?:check|radio)/.test(control.type) ? 'checked' : 'value'
        held.set(control, [name, Object.getOwnPropertyDescriptor(control, name)])
        const shown: unknown = Reflect.get(control, name)
        Object.defineProperty(control, name, { configurable: true, get: () => shown, set: ignore })
      }
    },
    release() {
      for (const [control, [name, own]] of held) {
        if (own) Object.defineProperty(control, name, own)
        else Reflect.deleteProperty(control, name)
      }
      held.clear()
    },
  }
}

function ignore(): void {}
