import { unhidden } from './form-members.ts'

/** Synchronises forms with search params: a form that shows those of the URL is updated for the new page. */
interface SearchForms {
  /** The previous page is still in the document. */
  leaving(): void
  /** @param isTraversal whether the visitor has moved in the history, and so back to what the form showed there. */
  arrived(isTraversal: boolean): void
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

const CONTROLS = 'form:not([method=post i],[action^="javascript:"]) :is(input,textarea,select)'

/**
 * A page stays when its search params change, and so does input typed into its forms. React then changes the default
 * value of a field, which is not visible in a field that was typed in.
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
        // The visitor may already be typing again.
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

/** React does not update a list when its default changes: the URL to which it led has the shown value. */
function showChoice({ form, name, options }: HTMLSelectElement, { href, pathname, search }: Location): void {
  if (name === '' || new URL((form && unhidden(form).getAttribute('action')) ?? '', href).pathname !== pathname) return
  const chosen = new URLSearchParams(search).getAll(name)
  for (const option of options) {
    option.selected = chosen.length > 0 ? chosen.includes(option.value) : option.defaultSelected
  }
}
