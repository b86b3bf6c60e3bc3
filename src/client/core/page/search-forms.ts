/** Keeps forms in step with search params: a form that shows those of the URL shows those of the page that has come. */
export interface SearchForms {
  /** The former page is still in the document. */
  leaving(): void
  /** @param isTraversal whether the visitor has moved in the history, and so back to what the form showed there. */
  arrived(isTraversal: boolean): void
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

const CONTROLS = 'form:not([method=post i],[action^="javascript:"]) :is(input,textarea,select)'

/**
 * A page outlives its search params, and with it what was typed into its forms. React changes the default of a field with
 * them, which is not seen in one that was typed in.
 */
export function createSearchForms(document: Document): SearchForms {
  let former: ReadonlyMap<Control, string | boolean> = new Map()

  return {
    leaving() {
      former = new Map([...document.querySelectorAll<Control>(CONTROLS)].map((one) => [one, defaultOf(one)]))
    },
    arrived(isTraversal) {
      const { activeElement, location } = document
      for (const [control, before] of former) {
        // Somebody may be typing on already, after what the page was asked for.
        if (!control.isConnected || (!isTraversal && control === activeElement)) continue
        if ('options' in control) {
          if (isTraversal) showChoice(control, location)
        } else if (defaultOf(control) !== before) {
          if (isBox(control)) control.checked = control.defaultChecked
          else control.value = control.defaultValue
        }
      }
      former = new Map()
    },
  }
}

function defaultOf(control: Control): string | boolean {
  if ('options' in control) return ''
  return isBox(control) ? control.defaultChecked : control.defaultValue
}

function isBox(control: Control): control is HTMLInputElement {
  return control.type === 'checkbox' || control.type === 'radio'
}

/** React leaves a list as it is when its default changes: what it showed is in the URL that it led to. */
function showChoice({ form, name, options }: HTMLSelectElement, { href, pathname, search }: Location): void {
  if (name === '' || new URL(form?.getAttribute('action') ?? '', href).pathname !== pathname) return
  const chosen = new URLSearchParams(search).getAll(name)
  for (const option of options) {
    option.selected = chosen.length > 0 ? chosen.includes(option.value) : option.defaultSelected
  }
}
