import { AsyncLocalStorage } from 'node:async_hooks'

/** What forms of a page need to know of the page they are rendered on. */
export interface FormTarget {
  /** Of the page, still percent-encoded. */
  readonly pathname: string
  /** `''` or with its question mark. */
  readonly search: string
  /** Makes a call of this document run once, however often it is sent; absent where many visitors share the document. */
  readonly once: string | undefined
  /** Signs bound arguments for one action. */
  sign(actionId: string, text: string): string
}

/** React asks an action for its form's attributes without saying on which page: it is known by where the render runs. */
const forms = new AsyncLocalStorage<FormTarget>()

/** Renders with this page as the target of its forms. */
export function withForms<Result>(target: FormTarget, render: () => Result): Result {
  return forms.run(target, render)
}

/** The page that is being rendered; `undefined` outside of a render. */
export function currentForms(): FormTarget | undefined {
  return forms.getStore()
}
